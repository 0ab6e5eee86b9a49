-- Locks the reservations of orders, sorted by id: the same lock, and the same sequence reservation → order → stock, as in the order
-- transaction, so that the two cannot wait for each other in a ring. With the rules of their activity, read in the same moment.
-- $1 bigint[] order ids
-- Returns one row per order that exists.
SELECT r.reservation_id, r.order_id, r.request_id, r.activity_id, r.sku_id, r.user_id, r.version,
       coalesce((a.rules->>'restockOnCancel')::boolean, true) AS restock,
       coalesce((a.rules->>'rebuyAfterCancel')::boolean, false) AS rebuy
  FROM inventory_reservation AS r
  JOIN seckill_activity AS a ON a.activity_id = r.activity_id
 WHERE r.order_id = ANY ($1::bigint[])
 ORDER BY r.reservation_id
   FOR UPDATE OF r
