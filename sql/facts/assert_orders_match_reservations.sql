-- Empty: a reservation holds its unit exactly as long as its order is open, paid, or waits for its money.
SELECT o.order_id::text AS "orderId", o.status::int AS "orderStatus", r.reservation_id::text AS "reservationId", r.status::int AS "reservationStatus"
  FROM orders AS o
  FULL JOIN inventory_reservation AS r ON r.order_id = o.order_id
 WHERE (o.order_id IS NOT NULL AND r.reservation_id IS NULL)
    OR (o.order_id IS NULL AND r.status IN (10, 30, 40))
    OR (o.status IN (10, 20, 30)) <> (r.status = 10)
    OR (o.status = 60) <> (r.status = 30)
    OR (o.status IN (40, 50)) <> (r.status = 40)
