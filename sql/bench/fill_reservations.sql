-- Reservations that became orders.
-- $1 int rows · $2 bigint activity id · $3 bigint SKU id
INSERT INTO inventory_reservation (reservation_id, request_id, first_message_id, activity_id, sku_id, user_id, inventory_bucket, order_id, status,
                                   redis_reserved_at, expires_at, ordered_at, version)
SELECT ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'fill-' || n, ('01900000-0000-7000-9000-' || lpad(to_hex(n), 12, '0'))::uuid, $2::bigint, $3::bigint, 1000000000000 + n, 0,
       7000000000000000 + n, 10, statement_timestamp(), statement_timestamp() + INTERVAL '1 day', statement_timestamp(), 2
  FROM generate_series(1, $1::int) AS n
