-- Whether a unit of a SKU may still come on sale: it is free here and so on its way to Redis, or an order may still give it back where the activity restocks (unpaid 10
-- and 20, paid 30, since a refund may be asked for at any time, and being refunded 60), or a reservation may, whatever the activity says: on its way to an end (0, 30) or
-- waiting for a human (60).
-- $1 bigint activity id · $2 bigint SKU id · $3 text allocator, whose stock is the one that moves: 'token' or 'row'
SELECT EXISTS (SELECT 1 FROM inventory_reservation AS r WHERE r.status IN (0, 30) AND r.activity_id = $1 AND r.sku_id = $2)
       OR EXISTS (SELECT 1 FROM inventory_reservation AS r WHERE r.status = 60 AND r.activity_id = $1 AND r.sku_id = $2)
       OR CASE WHEN $3::text = 'token'
               THEN EXISTS (SELECT 1 FROM inventory_token AS t WHERE t.activity_id = $1 AND t.sku_id = $2 AND t.status = 0)
               ELSE EXISTS (SELECT 1 FROM sku_inventory AS i WHERE i.activity_id = $1 AND i.sku_id = $2 AND i.available_stock > 0) END
       OR (
         coalesce((SELECT (a.rules->>'restockOnCancel')::boolean FROM seckill_activity AS a WHERE a.activity_id = $1), true)
         AND EXISTS (SELECT 1 FROM orders AS o WHERE o.activity_id = $1 AND o.sku_id = $2 AND o.status IN (10, 20, 30, 60))
       ) AS may_return
