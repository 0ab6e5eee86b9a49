-- release_reservations that releases what has been released before once more.
-- $1 uuid[] reservation ids
UPDATE inventory_reservation
   SET status = 40, released_at = statement_timestamp(), version = version + 2, updated_at = statement_timestamp()
 WHERE reservation_id = ANY ($1::uuid[]) AND status IN (10, 30, 40)
RETURNING reservation_id, version
