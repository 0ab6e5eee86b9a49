-- One order as a user or a channel may be told of it. Without a lock.
-- $1 bigint order id
SELECT order_id, reservation_id, user_id, status, total_amount, currency, cancel_reason, expire_at <= statement_timestamp() AS expired
  FROM orders WHERE order_id = $1
