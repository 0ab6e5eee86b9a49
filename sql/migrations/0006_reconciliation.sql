-- What the reconciler remembers (paper 004 §12): who leads, which Redis is known, and every repair with its id and its cause.

-- One leader at a time. The token rises with each new holder and fences what an older one still does.
CREATE TABLE reconciler_lease (
  lease_name VARCHAR(64) PRIMARY KEY,
  holder     VARCHAR(128) NOT NULL,
  token      BIGINT NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL,
  CONSTRAINT ck_lease_token CHECK (token > 0)
);

-- The Redis that was last known to hold the truth of a SKU. An epoch that is lower, or another run id, is another or an older Redis.
CREATE TABLE redis_mirror (
  activity_id BIGINT NOT NULL,
  sku_id      BIGINT NOT NULL,
  epoch       BIGINT NOT NULL,
  run_id      VARCHAR(64) NOT NULL,
  rebuilds    INTEGER NOT NULL DEFAULT 0,
  updated_at  TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp(),
  CONSTRAINT pk_redis_mirror PRIMARY KEY (activity_id, sku_id),
  CONSTRAINT ck_mirror_epoch CHECK (epoch >= 0),
  CONSTRAINT ck_mirror_rebuilds CHECK (rebuilds >= 0)
);

-- A repair of Redis is written here first (PLANNED), then made there once under the same id, then settled. Inventory entries of the ledger
-- stay what they are: PostgreSQL is the truth that Redis is adjusted to.
CREATE TABLE reconciliation_adjustment (
  adjustment_id  UUID PRIMARY KEY,
  activity_id    BIGINT NOT NULL,
  sku_id         BIGINT NOT NULL,
  epoch          BIGINT NOT NULL,
  kind           VARCHAR(64) NOT NULL,
  subject        VARCHAR(160) NOT NULL,
  reservation_id UUID,
  seen           TEXT NOT NULL,
  repair         JSONB NOT NULL,
  stock_delta    INTEGER NOT NULL DEFAULT 0,
  status         SMALLINT NOT NULL DEFAULT 0,
  outcome        VARCHAR(32),
  lease_token    BIGINT NOT NULL,
  created_at     TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp(),
  settled_at     TIMESTAMPTZ,
  CONSTRAINT ck_adjustment_status CHECK (status IN (0, 10, 20)),
  CONSTRAINT ck_adjustment_settled CHECK ((status = 0) = (settled_at IS NULL))
);
-- One open repair per subject; also finds the open ones.
CREATE UNIQUE INDEX uq_adjustment_open ON reconciliation_adjustment (activity_id, sku_id, kind, subject) WHERE status = 0;
CREATE INDEX idx_adjustment_subject ON reconciliation_adjustment (subject, kind);
