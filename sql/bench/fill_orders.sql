-- Orders that wait for their payment.
-- $1 int rows · $2 bigint activity id · $3 bigint SKU id
INSERT INTO orders (order_id, order_no, request_id, reservation_id, source_message_id, activity_id, sku_id, user_id, inventory_bucket, inventory_token_id,
                    unit_price, total_amount, status, expire_at)
SELECT 7000000000000000 + n, 'FILL' || n, 'fill-' || n, ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, ('01900000-0000-7000-9000-' || lpad(to_hex(n), 12, '0'))::uuid,
       $2::bigint, $3::bigint, 1000000000000 + n, 0, n, 9900, 9900, 10, statement_timestamp() + INTERVAL '1 day'
  FROM generate_series(1, $1::int) AS n
