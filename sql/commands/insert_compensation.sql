-- A task of the compensation worker. The key makes it one task, however often it is asked for.
-- $1 uuid task id · $2 text idempotency key · $3 int type · $4 uuid reservation id (or null) · $5 bigint order id (or null) · $6 text payload (JSON)
INSERT INTO compensation_task (task_id, idempotency_key, task_type, reservation_id, order_id, payload)
VALUES ($1::uuid, $2::text, $3::int, $4::uuid, $5::bigint, $6::jsonb)
ON CONFLICT (idempotency_key) DO NOTHING
