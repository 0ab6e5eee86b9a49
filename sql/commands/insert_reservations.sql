-- Makes the durable reservation rows, state PENDING_DB, in the order of the batch: where two rows of one batch collide, the earlier wins,
-- as it would one by one. The server's clock judges expiry, so that a consumer with a wrong clock refuses nobody (CASES C14).
-- $1 uuid[] reservation ids · $2 text[] request ids · $3 uuid[] message ids · $4 bigint[] activity ids · $5 bigint[] SKU ids ·
-- $6 bigint[] user ids · $7 int[] purchase numbers · $8 bigint[] reserved at, epoch ms · $9 bigint[] expires at, epoch ms
-- Returns the rows made; one that is missing collides on its reservation id or its request id.
INSERT INTO inventory_reservation (reservation_id, request_id, first_message_id, activity_id, sku_id, user_id, purchase_no,
                                   inventory_bucket, status, redis_reserved_at, expires_at)
SELECT r.reservation_id, r.request_id, r.message_id, r.activity_id, r.sku_id, r.user_id, r.purchase_no,
       0, 0, to_timestamp(r.reserved_at_ms / 1000.0), to_timestamp(r.expires_at_ms / 1000.0)
  FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::bigint[], $5::bigint[], $6::bigint[], $7::int[], $8::bigint[], $9::bigint[])
       WITH ORDINALITY
       AS r (reservation_id, request_id, message_id, activity_id, sku_id, user_id, purchase_no, reserved_at_ms, expires_at_ms, place)
 ORDER BY r.place
ON CONFLICT DO NOTHING
RETURNING reservation_id, expires_at <= statement_timestamp() AS expired
