-- CREATED, UNKNOWN or FAILED → SUCCEEDED: its trade has paid the order.
-- $1 uuid payment id · $2 text trade number · $3 text callback id
UPDATE payment_record
   SET status = 20, provider_trade_no = $2::text, callback_id = $3::text, paid_at = statement_timestamp(), next_query_at = NULL,
       version = version + 1, updated_at = statement_timestamp()
 WHERE payment_id = $1 AND status IN (0, 10, 30)
