-- Durable states of reservations with what their end means for Redis: the unit goes back where it was refused, or released with a RELEASE
-- entry (a withdrawn unit has none); the user's mark goes where the user may buy again.
-- $1 uuid[] reservation ids
SELECT r.reservation_id, r.status, r.order_id, r.version, r.request_id, r.activity_id, r.sku_id, r.user_id,
       coalesce(o.cancel_reason, r.failure_code) AS reason,
       r.status IN (20, 50)
         OR (r.status = 40 AND EXISTS (SELECT 1 FROM inventory_ledger AS l WHERE l.idempotency_key = 'RELEASE:' || r.reservation_id)) AS returns_unit,
       r.status IN (20, 50) OR (r.status = 40 AND coalesce((a.rules->>'rebuyAfterCancel')::boolean, false)) AS clears_user_mark
  FROM inventory_reservation AS r
  LEFT JOIN seckill_activity AS a ON a.activity_id = r.activity_id
  LEFT JOIN orders AS o ON o.order_id = r.order_id
 WHERE r.reservation_id = ANY ($1::uuid[])
