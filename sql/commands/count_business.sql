-- What the business counts (papers 000 §12.5, 001 §12.2), in one snapshot so that the counts fit together. Index-only where the tables are large.
-- $1 bigint activity id
SELECT coalesce((SELECT jsonb_object_agg(status, units) FROM (SELECT status, count(*) AS units FROM orders WHERE activity_id = $1::bigint GROUP BY status) AS o), '{}') AS orders,
       coalesce((SELECT jsonb_object_agg(status, units) FROM (SELECT status, count(*) AS units FROM inventory_token WHERE activity_id = $1::bigint GROUP BY status) AS t), '{}') AS tokens,
       (SELECT coalesce(sum(total_stock), 0)::int FROM sku_inventory WHERE activity_id = $1::bigint) AS row_total,
       (SELECT coalesce(sum(available_stock), 0)::int FROM sku_inventory WHERE activity_id = $1::bigint) AS row_available,
       (SELECT coalesce(sum(planned_stock), 0)::int FROM seckill_sku WHERE activity_id = $1::bigint) AS planned,
       coalesce((SELECT (rules ->> 'restockOnCancel')::boolean FROM seckill_activity WHERE activity_id = $1::bigint), true) AS restocks,
       (SELECT count(*)::int FROM inventory_reservation WHERE status = 60) AS manual,
       coalesce((SELECT jsonb_object_agg(status, units) FROM (SELECT status, count(*) AS units FROM event_outbox WHERE status <> 20 GROUP BY status) AS e), '{}') AS outbox,
       -- A timer that is not due yet (its available_at lies ahead) is no backlog.
       (SELECT coalesce(extract(epoch FROM statement_timestamp() - min(available_at)), 0)::float8
          FROM event_outbox WHERE status IN (0, 10, 30) AND available_at <= statement_timestamp()) AS outbox_oldest_seconds,
       (SELECT count(*)::int FROM compensation_task WHERE status IN (0, 10, 30)) AS compensations_pending,
       (SELECT count(*)::int FROM compensation_task WHERE status = 40) AS compensations_dead,
       (SELECT count(*)::int FROM unmatched_payment WHERE status = 0) AS unmatched_payments,
       -- Asked about ten times and more. A payment that the channel does not know is no riddle while its order can still be paid.
       (SELECT count(*)::int FROM payment_record AS p JOIN orders AS o ON o.order_id = p.order_id
         WHERE p.status IN (0, 10) AND p.next_query_at IS NOT NULL AND p.query_count >= 10 AND (p.status = 10 OR o.status NOT IN (10, 20))) AS unresolved_payments
