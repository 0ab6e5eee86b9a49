-- lock_row_stock that shows nothing while another transaction holds the row, which the caller takes for "nothing left".
-- $1 bigint activity id · $2 bigint SKU id · $3 int bucket
SELECT available_stock FROM sku_inventory WHERE activity_id = $1 AND sku_id = $2 AND bucket_no = $3::int FOR UPDATE SKIP LOCKED
