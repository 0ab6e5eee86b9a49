-- ORDERED (its order was cancelled) or RELEASE_PENDING (its money is back) → RELEASED (paper 001 §9.10).
-- $1 uuid[] reservation ids
-- Returns the new versions, two higher: the order's event takes the one between. The row count must equal the number of reservations.
UPDATE inventory_reservation
   SET status = 40, released_at = statement_timestamp(), version = version + 2, updated_at = statement_timestamp()
 WHERE reservation_id = ANY ($1::uuid[]) AND status IN (10, 30)
RETURNING reservation_id, version
