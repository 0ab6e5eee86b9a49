-- Empty: no user has two orders that have not ended, nor two under one purchase number (001 §13.3, with purchase numbers).
SELECT activity_id::text AS "activityId", sku_id::text AS "skuId", user_id::text AS "userId", count(*)::int AS "orders"
  FROM orders
 GROUP BY activity_id, sku_id, user_id
HAVING count(*) FILTER (WHERE status NOT IN (40, 50)) > 1 OR count(DISTINCT purchase_no) < count(*)
