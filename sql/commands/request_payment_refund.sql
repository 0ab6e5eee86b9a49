-- SUCCEEDED → REFUND_PENDING, with its order.
-- $1 bigint order id
-- Returns the payment.
UPDATE payment_record
   SET status = 40, version = version + 1, updated_at = statement_timestamp()
 WHERE order_id = $1 AND status = 20
RETURNING payment_id
