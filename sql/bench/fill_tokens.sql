-- Units that were claimed long ago.
-- $1 int rows · $2 bigint activity id · $3 bigint SKU id
INSERT INTO inventory_token (activity_id, sku_id, unit_no, status, reservation_id, order_id, claimed_at, version)
SELECT $2::bigint, $3::bigint, 100000000 + n, 10, ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 7000000000000000 + n, statement_timestamp(), 1
  FROM generate_series(1, $1::int) AS n
