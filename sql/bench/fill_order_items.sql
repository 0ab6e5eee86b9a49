-- A line per order.
-- $1 int rows · $2 bigint activity id · $3 bigint SKU id
INSERT INTO order_items (order_id, line_no, activity_id, sku_id, sku_title, quantity, unit_price, line_amount)
SELECT 7000000000000000 + n, 1, $2::bigint, $3::bigint, 'bench', 1, 9900, 9900
  FROM generate_series(1, $1::int) AS n
