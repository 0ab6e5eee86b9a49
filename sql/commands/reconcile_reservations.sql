-- One page of all reservations of a SKU, in the order of their ids, for a comparison with Redis and the topic.
-- $1 bigint activity id · $2 bigint SKU id · $3 uuid id after which the page begins · $4 int page size · $5 text consumer group ·
-- $6 text events topic
SELECT r.reservation_id, r.request_id, r.first_message_id, r.user_id, r.purchase_no, r.status, r.order_id, r.version,
       coalesce(r.failure_code, o.cancel_reason) AS reason,
       encode(i.payload_hash, 'hex') AS payload_hash,
       (extract(epoch FROM r.redis_reserved_at) * 1000)::bigint AS reserved_at_ms,
       (extract(epoch FROM r.expires_at) * 1000)::bigint AS expires_at_ms,
       (extract(epoch FROM greatest(r.updated_at, r.created_at)) * 1000)::bigint AS changed_at_ms,
       EXISTS (SELECT 1 FROM event_outbox AS e
                WHERE e.aggregate_id = r.reservation_id::text AND e.status <> 20 AND e.topic = $6::text) AS has_unsent_event,
       EXISTS (SELECT 1 FROM inventory_ledger AS l WHERE l.idempotency_key = 'RELEASE:' || r.reservation_id) AS has_release
  FROM inventory_reservation AS r
  LEFT JOIN orders AS o ON o.order_id = r.order_id
  LEFT JOIN consumer_inbox AS i ON i.consumer_group = $5::text AND i.message_id = r.first_message_id
 WHERE r.reservation_id > $3::uuid AND r.activity_id = $1::bigint AND r.sku_id = $2::bigint
 ORDER BY r.reservation_id
 LIMIT $4::int
