-- Unpaid orders whose time has been over for a while by this server's clock, oldest first: what no close message has ended.
-- $1 bigint ms past expire_at · $2 int page
SELECT order_id FROM orders
 WHERE status IN (10, 20) AND expire_at <= statement_timestamp() - $1::bigint * INTERVAL '1 millisecond'
 ORDER BY expire_at, order_id
 LIMIT $2::int
