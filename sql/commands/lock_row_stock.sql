-- How many units the bucket really has left, locked so that the answer stays true until COMMIT. Only asked when a batch wants more.
-- $1 bigint activity id · $2 bigint SKU id · $3 int bucket
SELECT available_stock FROM sku_inventory WHERE activity_id = $1 AND sku_id = $2 AND bucket_no = $3::int FOR UPDATE
