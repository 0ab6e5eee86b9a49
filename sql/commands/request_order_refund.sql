-- PAID → REFUND_PENDING by its user.
-- $1 bigint order id · $2 bigint user id
UPDATE orders
   SET status = 60, version = version + 1, updated_at = statement_timestamp()
 WHERE order_id = $1 AND user_id = $2 AND status = 30
