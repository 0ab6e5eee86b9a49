-- CREATED or UNKNOWN → FAILED, as the channel says.
-- $1 uuid payment id · $2 text trade number (null: the channel named none) · $3 text callback id
UPDATE payment_record
   SET status = 30, provider_trade_no = $2::text, callback_id = $3::text, next_query_at = NULL, version = version + 1, updated_at = statement_timestamp()
 WHERE payment_id = $1 AND status IN (0, 10)
