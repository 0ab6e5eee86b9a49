-- Repairs that were planned and of which nobody knows whether they were made.
-- $1 bigint activity id · $2 bigint SKU id
SELECT adjustment_id, epoch, kind, subject, repair
  FROM reconciliation_adjustment
 WHERE activity_id = $1::bigint AND sku_id = $2::bigint AND status = 0
 ORDER BY created_at, adjustment_id
