-- pay_order without a look at the state: a cancelled order is paid as well.
-- $1 bigint order id
UPDATE orders
   SET status = 30, paid_at = statement_timestamp(), version = version + 1, updated_at = statement_timestamp()
 WHERE order_id = $1
RETURNING order_id, reservation_id, source_message_id, inventory_bucket, inventory_token_id
