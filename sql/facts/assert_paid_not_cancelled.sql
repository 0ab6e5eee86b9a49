-- Empty: no cancelled order was ever paid, and no paid one lacks its payment (001 §13.3).
SELECT o.order_id::text AS "orderId", o.status::int AS "status", o.paid_at IS NOT NULL AS "wasPaid"
  FROM orders AS o
 WHERE (o.status = 40 AND o.paid_at IS NOT NULL)
    OR (o.status = 30 AND NOT EXISTS (SELECT 1 FROM payment_record AS p WHERE p.order_id = o.order_id AND p.status = 20))
