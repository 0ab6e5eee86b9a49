-- Every order as it stands (OrderRow).
SELECT order_id::text AS "orderId", request_id AS "requestId", reservation_id::text AS "reservationId",
       source_message_id::text AS "sourceMessageId", user_id::text AS "userId", sku_id::text AS "skuId",
       purchase_no::int AS "purchaseNo", inventory_bucket::int AS "inventoryBucket", inventory_token_id::text AS "inventoryTokenId",
       status::int AS "status", total_amount::text AS "totalAmount", currency AS "currency", version::text AS "version",
       (extract(epoch FROM expire_at) * 1000000)::int8::text AS "expireAtUs",
       (extract(epoch FROM paid_at) * 1000000)::int8::text AS "paidAtUs",
       (extract(epoch FROM cancelled_at) * 1000000)::int8::text AS "cancelledAtUs", cancel_reason AS "cancelReason",
       (extract(epoch FROM created_at) * 1000000)::int8::text AS "createdAtUs",
       CASE WHEN current_setting('track_commit_timestamp')::bool
            THEN (extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000000)::int8::text END AS "committedAtUs"
  FROM orders ORDER BY order_id
