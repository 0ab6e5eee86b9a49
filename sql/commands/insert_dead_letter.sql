-- Keeps a dead letter, OPEN. None made: the letter of this original is here already.
-- $1 text dead letter id · $2 text origin topic · $3 int origin partition · $4 bigint origin offset · $5 text consumer group · $6 text cause ·
-- $7 text detail · $8 int attempts · $9 uuid message id or null · $10 uuid reservation id or null · $11 bytea the letter ·
-- $12 bigint first seen, epoch ms · $13 bigint dead, epoch ms
INSERT INTO dead_letter (dead_letter_id, origin_topic, origin_partition, origin_offset, consumer_group, cause, detail, attempts, message_id,
                         reservation_id, letter, first_seen_at, dead_at)
VALUES ($1::text, $2::text, $3::int, $4::bigint, $5::text, $6::text, $7::text, $8::int, $9::uuid, $10::uuid, $11::bytea,
        to_timestamp($12::bigint / 1000.0), to_timestamp($13::bigint / 1000.0))
ON CONFLICT DO NOTHING
RETURNING dead_letter_id
