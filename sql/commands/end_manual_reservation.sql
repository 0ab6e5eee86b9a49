-- Ends a reservation that waited for a human, without an order. Its unit goes back by the Outbox row of the same transaction.
-- $1 uuid reservation id · $2 text failure code
-- Returns what its event needs; none when it does not wait (any more).
UPDATE inventory_reservation
   SET status = 50, failure_code = $2::text, version = version + 1, updated_at = statement_timestamp()
 WHERE reservation_id = $1::uuid AND status = 60
RETURNING reservation_id, request_id, activity_id::text, sku_id::text, user_id::text, version::text
