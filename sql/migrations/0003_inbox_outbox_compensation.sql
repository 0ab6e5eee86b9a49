-- Inbox, Outbox and compensation tasks (paper 001 §8.2, tables 9–11). No foreign keys to orders: replays, retention and archiving of
-- messages are not tied to the life of orders (paper 001 §6.5).
--
-- Adapted from the paper:
--   event_outbox has aggregate_version: events of one aggregate keep their order, and a lower unsent version holds later ones back.
--   max_retry is 600 and not 16: with the relay's backoff of at most 2 s that is at least ten minutes of a broker outage before an event is
--   DEAD, while 16 tries would need waits of half a minute, which would then be the recovery time.

-- A row exists only when the transaction that did the work has committed.
CREATE TABLE consumer_inbox (
  consumer_group VARCHAR(128) NOT NULL,
  message_id     UUID NOT NULL,
  topic          VARCHAR(128) NOT NULL,
  tag            VARCHAR(64),
  message_key    VARCHAR(160) NOT NULL,
  reservation_id UUID NOT NULL,
  payload_hash   BYTEA,
  status         SMALLINT NOT NULL DEFAULT 20,
  result_code    VARCHAR(64) NOT NULL,
  order_id       BIGINT,
  created_at     TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp(),
  processed_at   TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp(),
  CONSTRAINT pk_consumer_inbox PRIMARY KEY (consumer_group, message_id),
  CONSTRAINT ck_inbox_status CHECK (status = 20)
);
CREATE INDEX idx_inbox_reservation ON consumer_inbox (reservation_id, processed_at DESC);
CREATE INDEX idx_inbox_processed_brin ON consumer_inbox USING BRIN (processed_at);

CREATE TABLE event_outbox (
  event_id          UUID PRIMARY KEY,
  dedup_key         VARCHAR(160) NOT NULL,
  aggregate_type    VARCHAR(64) NOT NULL,
  aggregate_id      VARCHAR(128) NOT NULL,
  aggregate_version BIGINT NOT NULL,
  topic             VARCHAR(128) NOT NULL,
  tag               VARCHAR(64),
  message_key       VARCHAR(160) NOT NULL,
  schema_version    INTEGER NOT NULL,
  payload           JSONB NOT NULL,
  headers           JSONB NOT NULL DEFAULT '{}'::jsonb,
  status            SMALLINT NOT NULL DEFAULT 0,
  available_at      TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp(),
  retry_count       INTEGER NOT NULL DEFAULT 0,
  max_retry         INTEGER NOT NULL DEFAULT 600,
  locked_by         VARCHAR(128),
  locked_at         TIMESTAMPTZ,
  sent_at           TIMESTAMPTZ,
  last_error        TEXT,
  created_at        TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp(),
  updated_at        TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp(),
  CONSTRAINT uq_outbox_dedup UNIQUE (dedup_key),
  CONSTRAINT ck_outbox_status CHECK (status IN (0, 10, 20, 30, 40)),
  CONSTRAINT ck_outbox_retry CHECK (retry_count >= 0 AND max_retry > 0),
  CONSTRAINT ck_outbox_schema CHECK (schema_version > 0),
  CONSTRAINT ck_outbox_version CHECK (aggregate_version > 0)
) WITH (fillfactor = 80);
CREATE INDEX idx_outbox_ready ON event_outbox (available_at, created_at, event_id)
  INCLUDE (topic, tag, message_key, aggregate_type, aggregate_id) WHERE status IN (0, 30);
CREATE INDEX idx_outbox_stale_sending ON event_outbox (locked_at, event_id) WHERE status = 10;
-- Added: answers "is an earlier event of this aggregate still unsent", and stays as small as the backlog.
CREATE INDEX idx_outbox_unsent_aggregate ON event_outbox (aggregate_id, aggregate_version) WHERE status <> 20;

CREATE TABLE compensation_task (
  task_id         UUID PRIMARY KEY,
  idempotency_key VARCHAR(160) NOT NULL,
  task_type       SMALLINT NOT NULL,
  reservation_id  UUID,
  order_id        BIGINT,
  payload         JSONB NOT NULL,
  status          SMALLINT NOT NULL DEFAULT 0,
  next_run_at     TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp(),
  retry_count     INTEGER NOT NULL DEFAULT 0,
  max_retry       INTEGER NOT NULL DEFAULT 20,
  locked_by       VARCHAR(128),
  locked_at       TIMESTAMPTZ,
  last_error      TEXT,
  completed_at    TIMESTAMPTZ,
  created_at      TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp(),
  updated_at      TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp(),
  CONSTRAINT uq_compensation_idempotency UNIQUE (idempotency_key),
  CONSTRAINT ck_compensation_type CHECK (task_type IN (10, 20, 30, 40)),
  CONSTRAINT ck_compensation_status CHECK (status IN (0, 10, 20, 30, 40, 50)),
  CONSTRAINT ck_compensation_retry CHECK (retry_count >= 0 AND max_retry > 0)
) WITH (fillfactor = 80);
CREATE INDEX idx_compensation_ready ON compensation_task (next_run_at, created_at, task_id) WHERE status IN (0, 30);
CREATE INDEX idx_compensation_stale_running ON compensation_task (locked_at, task_id) WHERE status = 10;

-- Paper 001 §10.6: every event is updated at least twice, so its dead versions come fast.
ALTER TABLE event_outbox SET (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
  autovacuum_analyze_scale_factor = 0.05, autovacuum_analyze_threshold = 500
);
