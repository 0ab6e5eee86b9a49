-- allocate_row_stock without the final check: Redis has counted.
-- $1 bigint activity id · $2 bigint SKU id · $3 int bucket · $4 int units
UPDATE sku_inventory
   SET available_stock = available_stock - $4::int,
       allocated_stock = allocated_stock + $4::int,
       version = version + 1,
       updated_at = statement_timestamp()
 WHERE activity_id = $1 AND sku_id = $2 AND bucket_no = $3::int
RETURNING available_stock AS after_available, allocated_stock AS after_allocated
