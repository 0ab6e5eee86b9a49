-- insert_ledger_allocations without running values: all entries of an account begin at its balance before the batch.
-- $1 bigint[] ledger ids · $2 uuid[] reservation ids · $3 bigint[] order ids · $4 uuid[] message ids · $5 bigint[] activity ids ·
-- $6 bigint[] SKU ids · $7 bigint[] user ids · $8 int[] buckets · $9 bigint[] token ids (null: row stock) ·
-- $10 int[] available before · $11 int[] allocated before
INSERT INTO inventory_ledger (ledger_id, idempotency_key, reservation_id, order_id, source_message_id, activity_id, sku_id, user_id,
                              inventory_bucket, inventory_token_id, ledger_type, available_delta, allocated_delta,
                              before_available, after_available, before_allocated, after_allocated, reason)
SELECT l.ledger_id, 'ALLOCATE:' || l.reservation_id, l.reservation_id, l.order_id, l.message_id, l.activity_id, l.sku_id, l.user_id,
       l.bucket, l.token_id, 10, -1, 1,
       max(l.before_available) OVER account, max(l.before_available) OVER account - 1,
       min(l.before_allocated) OVER account, min(l.before_allocated) OVER account + 1, 'ORDER_CREATED'
  FROM unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::uuid[], $5::bigint[], $6::bigint[], $7::bigint[], $8::int[], $9::bigint[],
              $10::int[], $11::int[])
       AS l (ledger_id, reservation_id, order_id, message_id, activity_id, sku_id, user_id, bucket, token_id,
             before_available, before_allocated)
WINDOW account AS (PARTITION BY l.sku_id, l.bucket, l.token_id)
ON CONFLICT (idempotency_key) DO NOTHING
