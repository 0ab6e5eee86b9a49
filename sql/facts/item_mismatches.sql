-- Orders whose number of lines is not exactly one; empty when all is well.
SELECT o.order_id::text AS "orderId", count(i.order_id)::int AS "items"
  FROM orders AS o LEFT JOIN order_items AS i ON i.order_id = o.order_id
 GROUP BY o.order_id HAVING count(i.order_id) <> 1
 ORDER BY o.order_id
