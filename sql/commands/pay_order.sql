-- CREATED or PAYING → PAID (paper 001 §9.9): of this statement and the ones that cancel, only one can win.
-- $1 bigint order id
UPDATE orders
   SET status = 30, paid_at = statement_timestamp(), version = version + 1, updated_at = statement_timestamp()
 WHERE order_id = $1 AND status IN (10, 20)
RETURNING order_id, reservation_id, source_message_id, inventory_bucket, inventory_token_id
