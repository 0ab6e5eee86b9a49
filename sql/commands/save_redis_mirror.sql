-- Makes a Redis the known one. An epoch never falls, and only the holder of the lease decides.
-- $1 bigint activity id · $2 bigint SKU id · $3 bigint epoch · $4 text run id · $5 int rebuilds to add · $6 text lease · $7 bigint token
-- The row count must be 1.
INSERT INTO redis_mirror AS m (activity_id, sku_id, epoch, run_id, rebuilds)
SELECT $1::bigint, $2::bigint, $3::bigint, $4::text, $5::int
 WHERE EXISTS (SELECT 1 FROM reconciler_lease WHERE lease_name = $6::text AND token = $7::bigint AND expires_at > statement_timestamp())
ON CONFLICT (activity_id, sku_id) DO UPDATE
   SET epoch = excluded.epoch, run_id = excluded.run_id, rebuilds = m.rebuilds + excluded.rebuilds, updated_at = statement_timestamp()
 WHERE m.epoch <= excluded.epoch
