-- An ALLOCATE entry per order.
-- $1 int rows · $2 bigint activity id · $3 bigint SKU id
INSERT INTO inventory_ledger (ledger_id, idempotency_key, reservation_id, order_id, source_message_id, activity_id, sku_id, user_id, inventory_bucket,
                              inventory_token_id, ledger_type, available_delta, allocated_delta, before_available, after_available, before_allocated,
                              after_allocated, reason)
SELECT 7000000000000000 + n, 'ALLOCATE:' || ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
       7000000000000000 + n, ('01900000-0000-7000-9000-' || lpad(to_hex(n), 12, '0'))::uuid, $2::bigint, $3::bigint, 1000000000000 + n, 0, n, 10, -1, 1, 1, 0, 0, 1, 'ORDER_CREATED'
  FROM generate_series(1, $1::int) AS n
