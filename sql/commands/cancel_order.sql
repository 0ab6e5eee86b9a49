-- CREATED or PAYING → CANCELLED by its user.
-- $1 bigint order id · $2 bigint user id
UPDATE orders
   SET status = 40, cancelled_at = statement_timestamp(), cancel_reason = 'USER_CANCELLED', version = version + 1, updated_at = statement_timestamp()
 WHERE order_id = $1 AND user_id = $2 AND status IN (10, 20)
RETURNING order_id, reservation_id, source_message_id, inventory_bucket, inventory_token_id
