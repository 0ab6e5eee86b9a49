-- Empty: every row of stock balances in itself (001 §13.3).
SELECT activity_id::text AS "activityId", sku_id::text AS "skuId", bucket_no::int AS "bucketNo", total_stock AS "total",
       available_stock AS "available", allocated_stock AS "allocated"
  FROM sku_inventory
 WHERE total_stock <> available_stock + allocated_stock OR available_stock < 0 OR allocated_stock < 0
