-- Row stock per bucket (InventoryRow).
SELECT sku_id::text AS "skuId", bucket_no::int AS "bucketNo", total_stock AS "total", available_stock AS "available",
       allocated_stock AS "allocated"
  FROM sku_inventory ORDER BY activity_id, sku_id, bucket_no
