-- CREATED or PAYING → CANCELLED, only when the order's own time is over by this server's clock (paper 001 §9.10): a late, early or repeated
-- close message does nothing.
-- $1 bigint[] order ids
-- Returns the orders cancelled here.
UPDATE orders
   SET status = 40, cancelled_at = statement_timestamp(), cancel_reason = 'PAY_TIMEOUT', version = version + 1, updated_at = statement_timestamp()
 WHERE order_id = ANY ($1::bigint[]) AND status IN (10, 20) AND expire_at <= statement_timestamp()
RETURNING order_id, reservation_id, source_message_id, inventory_bucket, inventory_token_id
