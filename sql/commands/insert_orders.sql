-- Makes the orders, in the order of the batch; the unique keys decide who has one already (paper 001 §9.3). A purchase number is 1, or where
-- the activity lets users buy again, 1 + the user's ended purchases: while one of them lives, its number is the one that collides.
-- $1 bigint[] order ids · $2 text[] order numbers · $3 text[] request ids · $4 uuid[] reservation ids · $5 uuid[] message ids ·
-- $6 bigint[] activity ids · $7 bigint[] SKU ids · $8 bigint[] user ids · $9 bool[] may buy again · $10 bigint[] unit prices ·
-- $11 text[] currencies · $12 bigint payment window, ms
-- Returns the orders made; expire_at as text, since a Date of the driver would cut its microseconds off.
INSERT INTO orders (order_id, order_no, request_id, reservation_id, source_message_id, activity_id, sku_id, user_id, purchase_no,
                    inventory_bucket, unit_price, total_amount, currency, status, expire_at)
SELECT o.order_id, o.order_no, o.request_id, o.reservation_id, o.message_id, o.activity_id, o.sku_id, o.user_id,
       CASE WHEN o.rebuy
            THEN 1 + (SELECT count(*) FROM orders AS ended
                       WHERE ended.activity_id = o.activity_id AND ended.sku_id = o.sku_id AND ended.user_id = o.user_id
                         AND ended.status IN (40, 50))
            ELSE 1 END,
       0, o.unit_price, o.unit_price, o.currency, 10, statement_timestamp() + $12::bigint * INTERVAL '1 millisecond'
  FROM unnest($1::bigint[], $2::text[], $3::text[], $4::uuid[], $5::uuid[], $6::bigint[], $7::bigint[], $8::bigint[], $9::boolean[],
              $10::bigint[], $11::text[]) WITH ORDINALITY
       AS o (order_id, order_no, request_id, reservation_id, message_id, activity_id, sku_id, user_id, rebuy,
             unit_price, currency, place)
 ORDER BY o.place
ON CONFLICT DO NOTHING
RETURNING order_id, purchase_no, expire_at::text AS expire_at
