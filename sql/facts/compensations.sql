-- Every compensation task (CompensationRow).
SELECT task_id::text AS "taskId", idempotency_key AS "idempotencyKey", task_type::int AS "type", reservation_id::text AS "reservationId",
       order_id::text AS "orderId", status::int AS "status", retry_count AS "retryCount",
       (extract(epoch FROM next_run_at) * 1000000)::int8::text AS "nextRunAtUs"
  FROM compensation_task ORDER BY task_id
