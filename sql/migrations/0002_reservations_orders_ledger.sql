-- Reservations, orders, items, payments and the stock ledger (paper 001 §8.2, tables 4–8), plus unmatched_payment.
--
-- Adapted from the paper:
--   request_id is VARCHAR(64), chosen by the client, and unique per activity and SKU: the same scope as in Redis.
--   purchase_no is part of the one-order-per-user key: where an activity lets a user buy again after a cancel it rises, else it stays 1.
--   inventory_token_id on orders and ledger entries names the unit under the `token` allocator.

CREATE TABLE inventory_reservation (
  reservation_id    UUID PRIMARY KEY,
  request_id        VARCHAR(64) NOT NULL,
  first_message_id  UUID NOT NULL,
  activity_id       BIGINT NOT NULL,
  sku_id            BIGINT NOT NULL,
  user_id           BIGINT NOT NULL,
  purchase_no       SMALLINT NOT NULL DEFAULT 1,
  inventory_bucket  SMALLINT NOT NULL,
  quantity          SMALLINT NOT NULL DEFAULT 1,
  order_id          BIGINT,
  status            SMALLINT NOT NULL DEFAULT 0,
  failure_code      VARCHAR(64),
  redis_reserved_at TIMESTAMPTZ NOT NULL,
  expires_at        TIMESTAMPTZ NOT NULL,
  ordered_at        TIMESTAMPTZ,
  released_at       TIMESTAMPTZ,
  version           BIGINT NOT NULL DEFAULT 0,
  created_at        TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp(),
  updated_at        TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp(),
  CONSTRAINT uq_reservation_request UNIQUE (activity_id, sku_id, request_id),
  CONSTRAINT uq_reservation_order UNIQUE (order_id),
  CONSTRAINT ck_reservation_status CHECK (status IN (0, 10, 20, 30, 40, 50, 60)),
  CONSTRAINT ck_reservation_purchase CHECK (purchase_no >= 1),
  CONSTRAINT ck_reservation_quantity CHECK (quantity = 1),
  CONSTRAINT ck_reservation_bucket CHECK (inventory_bucket >= 0),
  CONSTRAINT ck_reservation_time CHECK (redis_reserved_at < expires_at),
  CONSTRAINT ck_reservation_ordered CHECK (status <> 10 OR order_id IS NOT NULL),
  CONSTRAINT ck_reservation_released CHECK (status <> 40 OR released_at IS NOT NULL),
  CONSTRAINT ck_reservation_version CHECK (version >= 0)
);
CREATE INDEX idx_reservation_user_sku ON inventory_reservation (activity_id, sku_id, user_id, created_at DESC);
CREATE INDEX idx_reservation_pending_expire ON inventory_reservation (expires_at, reservation_id) WHERE status IN (0, 30);

-- No foreign key to seckill_sku: the hot path does not check configuration rows, and an order keeps its own snapshot (paper 001 §6.5).
CREATE TABLE orders (
  order_id           BIGINT PRIMARY KEY,
  order_no           VARCHAR(40) NOT NULL,
  request_id         VARCHAR(64) NOT NULL,
  reservation_id     UUID NOT NULL,
  source_message_id  UUID NOT NULL,
  activity_id        BIGINT NOT NULL,
  sku_id             BIGINT NOT NULL,
  user_id            BIGINT NOT NULL,
  purchase_no        SMALLINT NOT NULL DEFAULT 1,
  inventory_bucket   SMALLINT NOT NULL,
  inventory_token_id BIGINT,
  quantity           SMALLINT NOT NULL DEFAULT 1,
  unit_price         BIGINT NOT NULL,
  total_amount       BIGINT NOT NULL,
  currency           VARCHAR(3) NOT NULL DEFAULT 'CNY',
  status             SMALLINT NOT NULL DEFAULT 10,
  expire_at          TIMESTAMPTZ NOT NULL,
  paid_at            TIMESTAMPTZ,
  cancelled_at       TIMESTAMPTZ,
  cancel_reason      VARCHAR(64),
  version            BIGINT NOT NULL DEFAULT 0,
  created_at         TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp(),
  updated_at         TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp(),
  CONSTRAINT uq_orders_order_no UNIQUE (order_no),
  CONSTRAINT uq_orders_request UNIQUE (activity_id, sku_id, request_id),
  CONSTRAINT uq_orders_reservation UNIQUE (reservation_id),
  CONSTRAINT uq_orders_source_message UNIQUE (source_message_id),
  CONSTRAINT uq_orders_user_sku UNIQUE (activity_id, sku_id, user_id, purchase_no),
  CONSTRAINT ck_orders_status CHECK (status IN (10, 20, 30, 40, 50, 60)),
  CONSTRAINT ck_orders_purchase CHECK (purchase_no >= 1),
  CONSTRAINT ck_orders_quantity CHECK (quantity = 1),
  CONSTRAINT ck_orders_amount CHECK (unit_price >= 0 AND total_amount = unit_price * quantity),
  CONSTRAINT ck_orders_bucket CHECK (inventory_bucket >= 0),
  CONSTRAINT ck_orders_paid_at CHECK (status <> 30 OR paid_at IS NOT NULL),
  CONSTRAINT ck_orders_cancelled_at CHECK (status <> 40 OR cancelled_at IS NOT NULL),
  CONSTRAINT ck_orders_version CHECK (version >= 0)
)
-- The claimed unit is written by a second statement of the same transaction. With half of each page free that is a heap-only update;
-- else it makes a new entry in each of the nine indexes.
WITH (fillfactor = 50);
CREATE INDEX idx_orders_user_created ON orders (user_id, created_at DESC)
  INCLUDE (order_id, activity_id, sku_id, status, total_amount, expire_at);
CREATE INDEX idx_orders_activity_status ON orders (activity_id, sku_id, status) INCLUDE (order_id, user_id, quantity);
CREATE INDEX idx_orders_expirable ON orders (expire_at, order_id) WHERE status IN (10, 20);

-- Each order is a parent row of its own, never a hot one, so this foreign key costs little (paper 001 §6.5).
CREATE TABLE order_items (
  order_id    BIGINT NOT NULL,
  line_no     SMALLINT NOT NULL,
  activity_id BIGINT NOT NULL,
  sku_id      BIGINT NOT NULL,
  sku_title   VARCHAR(256) NOT NULL,
  quantity    SMALLINT NOT NULL,
  unit_price  BIGINT NOT NULL,
  line_amount BIGINT NOT NULL,
  created_at  TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp(),
  CONSTRAINT pk_order_items PRIMARY KEY (order_id, line_no),
  CONSTRAINT fk_order_items_order FOREIGN KEY (order_id) REFERENCES orders (order_id) ON DELETE RESTRICT,
  CONSTRAINT ck_order_item_line CHECK (line_no > 0),
  CONSTRAINT ck_order_item_quantity CHECK (quantity > 0),
  CONSTRAINT ck_order_item_amount CHECK (unit_price >= 0 AND line_amount = unit_price * quantity)
);

CREATE TABLE payment_record (
  payment_id         UUID PRIMARY KEY,
  payment_request_id UUID NOT NULL,
  order_id           BIGINT NOT NULL,
  provider           VARCHAR(32) NOT NULL,
  provider_trade_no  VARCHAR(128),
  callback_id        VARCHAR(128),
  amount             BIGINT NOT NULL,
  currency           VARCHAR(3) NOT NULL DEFAULT 'CNY',
  status             SMALLINT NOT NULL DEFAULT 0,
  raw_payload        JSONB NOT NULL DEFAULT '{}'::jsonb,
  paid_at            TIMESTAMPTZ,
  version            BIGINT NOT NULL DEFAULT 0,
  created_at         TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp(),
  updated_at         TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp(),
  CONSTRAINT uq_payment_request UNIQUE (payment_request_id),
  CONSTRAINT uq_payment_provider_trade UNIQUE (provider, provider_trade_no),
  CONSTRAINT uq_payment_callback UNIQUE (provider, callback_id),
  CONSTRAINT fk_payment_order FOREIGN KEY (order_id) REFERENCES orders (order_id) ON DELETE RESTRICT,
  CONSTRAINT ck_payment_status CHECK (status IN (0, 10, 20, 30, 40, 50)),
  CONSTRAINT ck_payment_amount CHECK (amount >= 0),
  CONSTRAINT ck_payment_paid_at CHECK (status <> 20 OR paid_at IS NOT NULL),
  CONSTRAINT ck_payment_version CHECK (version >= 0)
);
CREATE INDEX idx_payment_order_created ON payment_record (order_id, created_at DESC)
  INCLUDE (payment_id, provider, provider_trade_no, status, amount);

-- Added to the paper: a callback whose order is unknown or whose amount is wrong. No foreign key: that is the point of it.
CREATE TABLE unmatched_payment (
  unmatched_id      UUID PRIMARY KEY,
  provider          VARCHAR(32) NOT NULL,
  provider_trade_no VARCHAR(128) NOT NULL,
  claimed_order_id  VARCHAR(64),
  amount            BIGINT NOT NULL,
  currency          VARCHAR(3) NOT NULL DEFAULT 'CNY',
  status            SMALLINT NOT NULL DEFAULT 0,
  reason            VARCHAR(64) NOT NULL,
  raw_payload       JSONB NOT NULL DEFAULT '{}'::jsonb,
  version           BIGINT NOT NULL DEFAULT 0,
  created_at        TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp(),
  updated_at        TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp(),
  CONSTRAINT uq_unmatched_trade UNIQUE (provider, provider_trade_no),
  CONSTRAINT ck_unmatched_status CHECK (status IN (0, 10, 20)),
  CONSTRAINT ck_unmatched_version CHECK (version >= 0)
);
CREATE INDEX idx_unmatched_open ON unmatched_payment (created_at, unmatched_id) WHERE status = 0;

-- Append only. No foreign key: entries are archived and repaired on their own. An account is (SKU, bucket), or a token where
-- inventory_token_id is set: then the account holds one unit and its values go 0→1 and 1→0.
CREATE TABLE inventory_ledger (
  ledger_id          BIGINT PRIMARY KEY,
  idempotency_key    VARCHAR(160) NOT NULL,
  reservation_id     UUID NOT NULL,
  order_id           BIGINT,
  source_message_id  UUID NOT NULL,
  activity_id        BIGINT NOT NULL,
  sku_id             BIGINT NOT NULL,
  user_id            BIGINT NOT NULL,
  inventory_bucket   SMALLINT NOT NULL,
  inventory_token_id BIGINT,
  ledger_type        SMALLINT NOT NULL,
  available_delta    INTEGER NOT NULL,
  allocated_delta    INTEGER NOT NULL,
  before_available   INTEGER NOT NULL,
  after_available    INTEGER NOT NULL,
  before_allocated   INTEGER NOT NULL,
  after_allocated    INTEGER NOT NULL,
  reason             VARCHAR(64) NOT NULL,
  created_at         TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp(),
  CONSTRAINT uq_inventory_ledger_idempotency UNIQUE (idempotency_key),
  CONSTRAINT ck_ledger_type CHECK (ledger_type IN (10, 20, 30, 40)),
  CONSTRAINT ck_ledger_conservation CHECK (available_delta + allocated_delta = 0),
  CONSTRAINT ck_ledger_available CHECK (after_available = before_available + available_delta),
  CONSTRAINT ck_ledger_allocated CHECK (after_allocated = before_allocated + allocated_delta),
  CONSTRAINT ck_ledger_result_nonnegative CHECK (after_available >= 0 AND after_allocated >= 0),
  CONSTRAINT ck_ledger_token CHECK (inventory_token_id IS NULL OR (after_available <= 1 AND after_allocated <= 1))
);
CREATE INDEX idx_ledger_reservation ON inventory_ledger (reservation_id, created_at);
CREATE INDEX idx_ledger_order ON inventory_ledger (order_id, created_at) WHERE order_id IS NOT NULL;
CREATE INDEX idx_ledger_created_brin ON inventory_ledger USING BRIN (created_at);
