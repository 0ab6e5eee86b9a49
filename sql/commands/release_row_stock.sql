-- Gives $4 units back to one bucket (paper 001 §9.10).
-- $1 bigint activity id · $2 bigint SKU id · $3 int bucket · $4 int units
-- Returns one row, or none when fewer are allocated: then the books are wrong.
UPDATE sku_inventory
   SET available_stock = available_stock + $4::int,
       allocated_stock = allocated_stock - $4::int,
       version = version + 1,
       updated_at = statement_timestamp()
 WHERE activity_id = $1 AND sku_id = $2 AND bucket_no = $3::int AND allocated_stock >= $4::int
RETURNING available_stock AS after_available, allocated_stock AS after_allocated
