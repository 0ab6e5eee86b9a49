-- Whether a unit of a SKU may still come back on sale: orders that are unpaid (10, 20) or being refunded (60) where the activity restocks, and reservations
-- that are on their way to an end (0, 30) whatever it says.
-- $1 bigint activity id · $2 bigint SKU id
SELECT EXISTS (
         SELECT 1 FROM inventory_reservation AS r
          WHERE r.status IN (0, 30) AND r.activity_id = $1 AND r.sku_id = $2
       )
       OR (
         coalesce((SELECT (a.rules->>'restockOnCancel')::boolean FROM seckill_activity AS a WHERE a.activity_id = $1), true)
         AND EXISTS (SELECT 1 FROM orders AS o WHERE o.activity_id = $1 AND o.sku_id = $2 AND o.status IN (10, 20, 60))
       ) AS may_return
