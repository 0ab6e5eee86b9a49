-- REFUND_PENDING → CLOSED: the money is back.
-- $1 bigint order id
UPDATE orders
   SET status = 50, version = version + 1, updated_at = statement_timestamp()
 WHERE order_id = $1 AND status = 60
RETURNING order_id, reservation_id, source_message_id, inventory_bucket, inventory_token_id
