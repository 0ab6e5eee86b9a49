-- Empty: a taken unit belongs to exactly the order that holds it; claimed while unpaid, sold once paid.
SELECT t.token_id::text AS "tokenId", t.status::int AS "tokenStatus", o.order_id::text AS "orderId", o.status::int AS "orderStatus"
  FROM inventory_token AS t
  LEFT JOIN orders AS o ON o.order_id = t.order_id
 WHERE t.status IN (10, 20)
   AND (o.order_id IS NULL OR o.reservation_id <> t.reservation_id OR o.inventory_token_id <> t.token_id
        OR t.status <> CASE WHEN o.status IN (10, 20) THEN 10 WHEN o.status IN (30, 60) THEN 20 ELSE -1 END)
