-- Writes repairs down before they are made. One that is open for the same subject stays the only one; what can be done once only (`once`: a
-- message sent again) is not planned anew after it was done. Nothing is written when the lease has gone.
-- $1 bigint activity id · $2 bigint SKU id · $3 bigint epoch · $4 text lease · $5 bigint token ·
-- $6 uuid[] ids · $7 text[] kinds · $8 text[] subjects · $9 uuid[] reservation ids · $10 text[] seen · $11 text[] repairs (JSON) ·
-- $12 int[] stock deltas · $13 boolean[] once
-- Returns the ids that are planned now.
INSERT INTO reconciliation_adjustment (adjustment_id, activity_id, sku_id, epoch, kind, subject, reservation_id, seen, repair, stock_delta, lease_token)
SELECT p.id, $1::bigint, $2::bigint, $3::bigint, p.kind, p.subject, p.reservation_id, p.seen, p.repair::jsonb, p.stock_delta, $5::bigint
  FROM unnest($6::uuid[], $7::text[], $8::text[], $9::uuid[], $10::text[], $11::text[], $12::int[], $13::boolean[])
       AS p (id, kind, subject, reservation_id, seen, repair, stock_delta, once)
 WHERE EXISTS (SELECT 1 FROM reconciler_lease WHERE lease_name = $4::text AND token = $5::bigint AND expires_at > statement_timestamp())
   AND NOT (p.once AND EXISTS (SELECT 1 FROM reconciliation_adjustment AS a
                                WHERE a.subject = p.subject AND a.kind = p.kind AND a.status = 10))
ON CONFLICT DO NOTHING
RETURNING adjustment_id
