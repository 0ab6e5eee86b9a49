-- $1 bigint activity id · $2 bigint SKU id · $3 bigint unit price · $4 text currency · $5 int stock · $6 int buckets
INSERT INTO seckill_sku (activity_id, sku_id, sku_title, status, unit_price, currency, planned_stock, inventory_bucket_count)
VALUES ($1::bigint, $2::bigint, 'SKU ' || $2::bigint, 10, $3::bigint, $4::text, $5::int, $6::int)
