-- Makes the orders, in the order of the batch; the unique keys decide who has one already (paper 001 §9.3).
-- A purchase number above 1 needs the user's previous purchase to be cancelled or closed: by induction all earlier ones are.
-- $1 bigint[] order ids · $2 text[] order numbers · $3 text[] request ids · $4 uuid[] reservation ids · $5 uuid[] message ids ·
-- $6 bigint[] activity ids · $7 bigint[] SKU ids · $8 bigint[] user ids · $9 int[] purchase numbers · $10 bigint[] unit prices ·
-- $11 text[] currencies · $12 bigint payment window, ms
-- Returns the ids of the orders made.
INSERT INTO orders (order_id, order_no, request_id, reservation_id, source_message_id, activity_id, sku_id, user_id, purchase_no,
                    inventory_bucket, unit_price, total_amount, currency, status, expire_at)
SELECT o.order_id, o.order_no, o.request_id, o.reservation_id, o.message_id, o.activity_id, o.sku_id, o.user_id, o.purchase_no,
       0, o.unit_price, o.unit_price, o.currency, 10, statement_timestamp() + $12::bigint * INTERVAL '1 millisecond'
  FROM unnest($1::bigint[], $2::text[], $3::text[], $4::uuid[], $5::uuid[], $6::bigint[], $7::bigint[], $8::bigint[], $9::int[],
              $10::bigint[], $11::text[]) WITH ORDINALITY
       AS o (order_id, order_no, request_id, reservation_id, message_id, activity_id, sku_id, user_id, purchase_no,
             unit_price, currency, place)
 WHERE o.purchase_no = 1
    OR EXISTS (SELECT 1 FROM orders AS previous
                WHERE previous.activity_id = o.activity_id AND previous.sku_id = o.sku_id AND previous.user_id = o.user_id
                  AND previous.purchase_no = o.purchase_no - 1 AND previous.status IN (40, 50))
 ORDER BY o.place
ON CONFLICT DO NOTHING
RETURNING order_id
