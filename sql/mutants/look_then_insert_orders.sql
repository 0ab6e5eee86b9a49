-- insert_orders that looks for an order of the user first, and relies on what it saw. The question is of the statement's beginning, and the row comes a trip later, as where a
-- program asks and then inserts.
-- $1 bigint[] order ids · $2 text[] order numbers · $3 text[] request ids · $4 uuid[] reservation ids · $5 uuid[] message ids ·
-- $6 bigint[] activity ids · $7 bigint[] SKU ids · $8 bigint[] user ids · $9 bool[] may buy again · $10 bigint[] unit prices ·
-- $11 text[] currencies · $12 bigint payment window, ms
INSERT INTO orders (order_id, order_no, request_id, reservation_id, source_message_id, activity_id, sku_id, user_id, purchase_no,
                    inventory_bucket, unit_price, total_amount, currency, status, expire_at)
SELECT o.order_id, o.order_no, o.request_id, o.reservation_id, o.message_id, o.activity_id, o.sku_id, o.user_id, 1,
       0, o.unit_price, o.unit_price, o.currency, 10, statement_timestamp() + $12::bigint * INTERVAL '1 millisecond'
  FROM unnest($1::bigint[], $2::text[], $3::text[], $4::uuid[], $5::uuid[], $6::bigint[], $7::bigint[], $8::bigint[], $9::boolean[],
              $10::bigint[], $11::text[])
       AS o (order_id, order_no, request_id, reservation_id, message_id, activity_id, sku_id, user_id, rebuy, unit_price, currency)
 CROSS JOIN (SELECT pg_sleep(0.5) IS NULL AS never) AS trip
 WHERE NOT EXISTS (SELECT 1 FROM orders AS mine
                    WHERE mine.activity_id = o.activity_id AND mine.sku_id = o.sku_id AND mine.user_id = o.user_id)
ON CONFLICT DO NOTHING
RETURNING order_id, purchase_no, expire_at::text AS expire_at
