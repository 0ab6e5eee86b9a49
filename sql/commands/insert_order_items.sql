-- One line per order, with the terms of sale as they were.
-- $1 bigint[] order ids · $2 bigint[] activity ids · $3 bigint[] SKU ids · $4 text[] titles · $5 bigint[] unit prices
INSERT INTO order_items (order_id, line_no, activity_id, sku_id, sku_title, quantity, unit_price, line_amount)
SELECT i.order_id, 1, i.activity_id, i.sku_id, i.sku_title, 1, i.unit_price, i.unit_price
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[]) AS i (order_id, activity_id, sku_id, sku_title, unit_price)
