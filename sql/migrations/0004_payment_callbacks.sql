-- What channels have told (000 §9.4, 001 §9.9): every callback is kept as it came, since a channel that contradicts itself is evidence, and
-- payments whose end is not known are asked for.

-- Append only. No foreign key: an unknown order is told of as well. `result` is what the callback was answered.
CREATE TABLE payment_callback (
  provider          VARCHAR(32) NOT NULL,
  callback_id       VARCHAR(128) NOT NULL,
  provider_trade_no VARCHAR(128) NOT NULL,
  claimed_order_id  VARCHAR(64) NOT NULL,
  amount            BIGINT NOT NULL,
  currency          VARCHAR(3) NOT NULL,
  told_status       VARCHAR(16) NOT NULL,
  result            VARCHAR(32) NOT NULL DEFAULT 'RECEIVED',
  reason            VARCHAR(64),
  payment_id        UUID,
  received_at       TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp(),
  CONSTRAINT pk_payment_callback PRIMARY KEY (provider, callback_id),
  CONSTRAINT ck_callback_amount CHECK (amount >= 0),
  CONSTRAINT ck_callback_told CHECK (told_status IN ('SUCCEEDED', 'FAILED', 'PENDING'))
);
CREATE INDEX idx_callback_trade ON payment_callback (provider, provider_trade_no);

-- When the channel is to be asked what became of the payment; null: never again.
ALTER TABLE payment_record ADD COLUMN next_query_at TIMESTAMPTZ;
ALTER TABLE payment_record ADD COLUMN query_count INTEGER NOT NULL DEFAULT 0;
CREATE INDEX idx_payment_query_due ON payment_record (next_query_at, payment_id) WHERE status IN (0, 10) AND next_query_at IS NOT NULL;
-- One payment of an order is open at a time and channel, so that a trade never has two to choose from.
CREATE UNIQUE INDEX uq_payment_open ON payment_record (order_id, provider) WHERE status IN (0, 10);
