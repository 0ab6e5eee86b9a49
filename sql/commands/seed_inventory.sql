-- Splits the stock over the buckets; the first ones take the remainder, so that the sum is exact.
-- $1 bigint activity id · $2 bigint SKU id · $3 int stock · $4 int buckets
INSERT INTO sku_inventory (activity_id, sku_id, bucket_no, total_stock, available_stock)
SELECT $1::bigint, $2::bigint, b.no, share.units, share.units
  FROM generate_series(0, $4::int - 1) AS b (no),
       LATERAL (SELECT $3::int / $4::int + CASE WHEN b.no < $3::int % $4::int THEN 1 ELSE 0 END AS units) AS share
