-- Explains why orders were not made, in the sequence of paper 001 §9.3: same reservation or request, then same user, then a taken order id.
-- $1 bigint[] the order ids tried · $2 text[] request ids · $3 uuid[] reservation ids · $4 bigint[] activity ids · $5 bigint[] SKU ids ·
-- $6 bigint[] user ids
-- Returns one row per order tried; each owner is null where the key is free.
SELECT t.order_id AS tried_order_id,
       (SELECT o.order_id FROM orders AS o WHERE o.reservation_id = t.reservation_id) AS reservation_owner,
       (SELECT o.order_id FROM orders AS o
         WHERE o.activity_id = t.activity_id AND o.sku_id = t.sku_id AND o.request_id = t.request_id) AS request_owner,
       (SELECT o.order_id FROM orders AS o
         WHERE o.activity_id = t.activity_id AND o.sku_id = t.sku_id AND o.user_id = t.user_id
         ORDER BY o.purchase_no DESC LIMIT 1) AS user_owner,
       EXISTS (SELECT 1 FROM orders AS o WHERE o.order_id = t.order_id) AS id_taken
  FROM unnest($1::bigint[], $2::text[], $3::uuid[], $4::bigint[], $5::bigint[], $6::bigint[])
       AS t (order_id, request_id, reservation_id, activity_id, sku_id, user_id)
