-- Callbacks leave the live table in pages, as sent events do, and stay in evidence: what a channel said is what a dispute is about.

-- BRIN: finds old pages without an entry per callback on the hot path.
CREATE INDEX idx_callback_received_brin ON payment_callback USING BRIN (received_at);

-- A channel that comes again after all that time is kept a second time.
CREATE TABLE payment_callback_archive (
  LIKE payment_callback INCLUDING CONSTRAINTS INCLUDING DEFAULTS,
  archived_at TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp(),
  CONSTRAINT pk_payment_callback_archive PRIMARY KEY (callback_id, provider, received_at)
);
CREATE INDEX idx_callback_archive_trade ON payment_callback_archive (provider_trade_no, provider);
