-- Empty: every order that holds a unit has its ALLOCATE entry, and no ended one whose RELEASE came twice (001 §13.3).
SELECT o.order_id::text AS "orderId", count(l.ledger_id) FILTER (WHERE l.ledger_type = 10)::int AS "allocations",
       count(l.ledger_id) FILTER (WHERE l.ledger_type = 20)::int AS "releases"
  FROM orders AS o
  LEFT JOIN inventory_ledger AS l ON l.order_id = o.order_id AND l.idempotency_key IN ('ALLOCATE:' || o.reservation_id, 'RELEASE:' || o.reservation_id)
 GROUP BY o.order_id, o.status
HAVING count(l.ledger_id) FILTER (WHERE l.ledger_type = 10) <> 1
    OR count(l.ledger_id) FILTER (WHERE l.ledger_type = 20) > CASE WHEN o.status IN (40, 50) THEN 1 ELSE 0 END
