-- Every reservation row (ReservationRow).
SELECT reservation_id::text AS "reservationId", request_id AS "requestId", first_message_id::text AS "firstMessageId",
       user_id::text AS "userId", purchase_no::int AS "purchaseNo", status::int AS "status", order_id::text AS "orderId", failure_code AS "failureCode",
       version::text AS "version", (extract(epoch FROM expires_at) * 1000000)::int8::text AS "expiresAtUs",
       CASE WHEN current_setting('track_commit_timestamp')::bool
            THEN (extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000000)::int8::text END AS "committedAtUs"
  FROM inventory_reservation ORDER BY reservation_id
