-- The SOLD entry of a paid order: nothing moves, so the account's values are only looked at, and the hot row is not locked.
-- $1 bigint ledger id · $2 uuid reservation id · $3 bigint order id · $4 uuid message id · $5 bigint activity id · $6 bigint SKU id ·
-- $7 bigint user id · $8 int bucket · $9 bigint token id (null: row stock)
-- The row count must be 1.
INSERT INTO inventory_ledger (ledger_id, idempotency_key, reservation_id, order_id, source_message_id, activity_id, sku_id, user_id,
                              inventory_bucket, inventory_token_id, ledger_type, available_delta, allocated_delta,
                              before_available, after_available, before_allocated, after_allocated, reason)
SELECT $1::bigint, 'SOLD:' || $2::uuid, $2::uuid, $3::bigint, $4::uuid, $5::bigint, $6::bigint, $7::bigint,
       $8::int, $9::bigint, 30, 0, 0, seen.available, seen.available, seen.allocated, seen.allocated, 'PAID'
  FROM (SELECT CASE WHEN $9::bigint IS NULL THEN i.available_stock ELSE 0 END AS available,
               CASE WHEN $9::bigint IS NULL THEN i.allocated_stock ELSE 1 END AS allocated
          FROM sku_inventory AS i WHERE i.activity_id = $5::bigint AND i.sku_id = $6::bigint AND i.bucket_no = $8::int) AS seen
ON CONFLICT (idempotency_key) DO NOTHING
