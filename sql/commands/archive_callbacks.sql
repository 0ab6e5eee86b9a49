-- Moves one page of callbacks that came long ago into the archive.
-- $1 bigint received longer ago than, ms · $2 int page size
WITH gone AS (
  DELETE FROM payment_callback
   WHERE ctid = ANY (ARRAY (SELECT ctid FROM payment_callback
                             WHERE received_at < statement_timestamp() - $1::bigint * interval '1 millisecond'
                             LIMIT $2::int FOR UPDATE SKIP LOCKED))
  RETURNING provider, callback_id, provider_trade_no, claimed_order_id, amount, currency, told_status, result, reason, payment_id, received_at
)
INSERT INTO payment_callback_archive (provider, callback_id, provider_trade_no, claimed_order_id, amount, currency, told_status, result, reason,
                                      payment_id, received_at)
SELECT * FROM gone
