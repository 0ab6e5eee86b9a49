-- $1 bigint activity id · $2 bigint version · $3 bigint start, epoch ms · $4 bigint end, epoch ms · $5 text rules (JSON)
INSERT INTO seckill_activity (activity_id, activity_name, status, start_at, end_at, rules, version)
VALUES ($1::bigint, 'Activity ' || $1::bigint, 20, to_timestamp($3::bigint / 1000.0), to_timestamp($4::bigint / 1000.0), $5::jsonb, $2::bigint)
