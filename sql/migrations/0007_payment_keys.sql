-- Keys of payments with the column first that tells rows apart. Nearly all payments have one provider: with it in front, a plan that is made while the tables are empty,
-- and kept by the session, may look a trade up in the index of the callbacks, and then reads every payment of the sale for each callback.
ALTER TABLE payment_record
  DROP CONSTRAINT uq_payment_provider_trade,
  DROP CONSTRAINT uq_payment_callback,
  ADD CONSTRAINT uq_payment_provider_trade UNIQUE (provider_trade_no, provider),
  ADD CONSTRAINT uq_payment_callback UNIQUE (callback_id, provider);

ALTER TABLE payment_callback
  DROP CONSTRAINT pk_payment_callback,
  ADD CONSTRAINT pk_payment_callback PRIMARY KEY (callback_id, provider);
DROP INDEX idx_callback_trade;
CREATE INDEX idx_callback_trade ON payment_callback (provider_trade_no, provider);
