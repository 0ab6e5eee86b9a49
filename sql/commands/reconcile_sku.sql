-- Terms, rules and stock of a SKU, both as rows and as tokens: the allocator of the system decides which of the two counts.
-- $1 bigint activity id · $2 bigint SKU id
SELECT a.version AS activity_version, a.status AS activity_status, s.status AS sku_status, s.unit_price, s.currency, s.planned_stock,
       (extract(epoch FROM a.start_at) * 1000)::bigint AS start_at_ms, (extract(epoch FROM a.end_at) * 1000)::bigint AS end_at_ms,
       coalesce((a.rules ->> 'rebuyAfterCancel')::boolean, false) AS rebuy_after_cancel,
       (SELECT coalesce(sum(available_stock), 0) FROM sku_inventory AS i
         WHERE i.activity_id = s.activity_id AND i.sku_id = s.sku_id) AS row_available,
       (SELECT coalesce(sum(allocated_stock), 0) FROM sku_inventory AS i
         WHERE i.activity_id = s.activity_id AND i.sku_id = s.sku_id) AS row_allocated,
       (SELECT count(*) FROM inventory_token AS t
         WHERE t.activity_id = s.activity_id AND t.sku_id = s.sku_id AND t.status = 0) AS token_available,
       (SELECT count(*) FROM inventory_token AS t
         WHERE t.activity_id = s.activity_id AND t.sku_id = s.sku_id AND t.status <> 0) AS token_allocated
  FROM seckill_sku AS s
  JOIN seckill_activity AS a ON a.activity_id = s.activity_id
 WHERE s.activity_id = $1::bigint AND s.sku_id = $2::bigint
