-- expire_orders that ends what has been cancelled before once more.
-- $1 bigint[] order ids
UPDATE orders
   SET status = 40, cancelled_at = statement_timestamp(), cancel_reason = 'PAY_TIMEOUT', version = version + 1, updated_at = statement_timestamp()
 WHERE order_id = ANY ($1::bigint[]) AND status IN (10, 20, 40) AND expire_at <= statement_timestamp()
RETURNING order_id, reservation_id, source_message_id, inventory_bucket, inventory_token_id
