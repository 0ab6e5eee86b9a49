-- insert_ledger_releases under a key of its own each time: a second entry for the same reservation is as good as the first.
-- $1 bigint[] ledger ids · $2 uuid[] reservation ids · $3 bigint[] order ids · $4 uuid[] message ids · $5 bigint[] activity ids ·
-- $6 bigint[] SKU ids · $7 bigint[] user ids · $8 int[] buckets · $9 bigint[] token ids (null: row stock) ·
-- $10 int[] available before · $11 int[] allocated before · $12 text reason
INSERT INTO inventory_ledger (ledger_id, idempotency_key, reservation_id, order_id, source_message_id, activity_id, sku_id, user_id,
                              inventory_bucket, inventory_token_id, ledger_type, available_delta, allocated_delta,
                              before_available, after_available, before_allocated, after_allocated, reason)
SELECT l.ledger_id, CASE WHEN EXISTS (SELECT 1 FROM inventory_ledger AS before WHERE before.idempotency_key = 'RELEASE:' || l.reservation_id)
                         THEN 'RELEASE:' || l.ledger_id ELSE 'RELEASE:' || l.reservation_id END,
       l.reservation_id, l.order_id, l.message_id, l.activity_id, l.sku_id, l.user_id,
       l.bucket, l.token_id, 20, 1, -1,
       l.before_available, l.before_available + 1, l.before_allocated, l.before_allocated - 1, $12::text
  FROM unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::uuid[], $5::bigint[], $6::bigint[], $7::bigint[], $8::int[], $9::bigint[],
              $10::int[], $11::int[])
       AS l (ledger_id, reservation_id, order_id, message_id, activity_id, sku_id, user_id, bucket, token_id,
             before_available, before_allocated)
ON CONFLICT (idempotency_key) DO NOTHING
