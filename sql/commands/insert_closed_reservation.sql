-- Closes a reservation that ends without an order: a late message finds this row and is refused (DESIGN §4, Release).
-- $1 uuid reservation id · $2 text request id · $3 uuid message id · $4 bigint activity id · $5 bigint SKU id · $6 bigint user id ·
-- $7 int purchase number · $8 bigint reserved at, epoch ms · $9 bigint expires at, epoch ms · $10 text failure code
-- Returns the version when the row was made; none when the reservation or its request id is there already.
INSERT INTO inventory_reservation (reservation_id, request_id, first_message_id, activity_id, sku_id, user_id, purchase_no,
                                   inventory_bucket, status, failure_code, redis_reserved_at, expires_at, version)
VALUES ($1::uuid, $2::text, $3::uuid, $4::bigint, $5::bigint, $6::bigint, $7::int, 0, 50, $10::text,
        to_timestamp($8::bigint / 1000.0), to_timestamp($9::bigint / 1000.0), 1)
ON CONFLICT DO NOTHING
RETURNING version
