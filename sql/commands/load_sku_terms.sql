-- What the consumer decides by, read inside the order transaction and without a lock: an activity that stops later does not undo it.
-- $1 bigint[] activity ids · $2 bigint[] SKU ids (pairs)
-- Returns one row per pair that exists.
SELECT s.activity_id, s.sku_id, a.status AS activity_status, a.version AS activity_version,
       s.status AS sku_status, s.unit_price, s.currency, s.sku_title,
       coalesce((a.rules->>'rebuyAfterCancel')::boolean, false) AS rebuy_after_cancel
  FROM unnest($1::bigint[], $2::bigint[]) AS wanted (activity_id, sku_id)
  JOIN seckill_sku AS s ON s.activity_id = wanted.activity_id AND s.sku_id = wanted.sku_id
  JOIN seckill_activity AS a ON a.activity_id = s.activity_id
