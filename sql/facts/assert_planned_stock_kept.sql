-- Empty: the rows, and the tokens, of a SKU are as many as were planned (001 §13.3).
SELECT s.activity_id::text AS "activityId", s.sku_id::text AS "skuId", s.planned_stock AS "planned", rows.units AS "inRows", tokens.units AS "inTokens"
  FROM seckill_sku AS s,
       LATERAL (SELECT coalesce(sum(i.total_stock), 0)::int AS units FROM sku_inventory AS i WHERE i.activity_id = s.activity_id AND i.sku_id = s.sku_id) AS rows,
       LATERAL (SELECT count(*)::int AS units FROM inventory_token AS t WHERE t.activity_id = s.activity_id AND t.sku_id = s.sku_id) AS tokens
 WHERE rows.units <> s.planned_stock OR tokens.units <> s.planned_stock
