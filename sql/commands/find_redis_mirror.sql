-- The Redis that is known for a SKU.
-- $1 bigint activity id · $2 bigint SKU id
SELECT epoch, run_id FROM redis_mirror WHERE activity_id = $1::bigint AND sku_id = $2::bigint
