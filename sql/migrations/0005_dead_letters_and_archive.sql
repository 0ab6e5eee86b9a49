-- Dead letters as the undertaker keeps them (paper 000 §7.4), the archive of events that were sent, and what waits for a human.

-- One row per original: its place in the topics is its identity, however often the letter itself was sent. `letter` is the record of the
-- dead-letter topic as it came, bytes and all: text columns could not take every poison.
CREATE TABLE dead_letter (
  dead_letter_id   VARCHAR(300) PRIMARY KEY,
  origin_topic     VARCHAR(249) NOT NULL,
  origin_partition INTEGER NOT NULL,
  origin_offset    BIGINT NOT NULL,
  consumer_group   VARCHAR(249) NOT NULL,
  cause            VARCHAR(32) NOT NULL,
  detail           TEXT NOT NULL,
  attempts         INTEGER NOT NULL,
  message_id       UUID,
  reservation_id   UUID,
  letter           BYTEA NOT NULL,
  status           SMALLINT NOT NULL DEFAULT 0,
  resolution       VARCHAR(32),
  first_seen_at    TIMESTAMPTZ NOT NULL,
  dead_at          TIMESTAMPTZ NOT NULL,
  version          BIGINT NOT NULL DEFAULT 0,
  created_at       TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp(),
  updated_at       TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp(),
  CONSTRAINT uq_dead_letter_origin UNIQUE (origin_topic, origin_partition, origin_offset),
  CONSTRAINT ck_dead_letter_status CHECK (status IN (0, 10, 20)),
  CONSTRAINT ck_dead_letter_resolution CHECK ((status = 0) = (resolution IS NULL)),
  CONSTRAINT ck_dead_letter_attempts CHECK (attempts >= 1)
);
CREATE INDEX idx_dead_letter_open ON dead_letter (created_at, dead_letter_id) WHERE status = 0;

-- What waits for a human is counted all the time and must cost nothing while there is none.
CREATE INDEX idx_reservation_manual ON inventory_reservation (updated_at, reservation_id) WHERE status = 60;

-- Sent events leave the live table in pages. BRIN: finds old pages without an entry per event on the hot path.
CREATE INDEX idx_outbox_created_brin ON event_outbox USING BRIN (created_at);

CREATE TABLE event_outbox_archive (
  LIKE event_outbox INCLUDING CONSTRAINTS INCLUDING DEFAULTS,
  archived_at TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp(),
  CONSTRAINT pk_event_outbox_archive PRIMARY KEY (event_id),
  CONSTRAINT ck_archive_sent CHECK (status = 20)
);
CREATE INDEX idx_archive_aggregate ON event_outbox_archive (aggregate_id, aggregate_version);
