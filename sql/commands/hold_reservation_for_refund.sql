-- ORDERED → RELEASE_PENDING: the unit is held until the money is back.
-- $1 uuid reservation id
UPDATE inventory_reservation
   SET status = 30, version = version + 1, updated_at = statement_timestamp()
 WHERE reservation_id = $1 AND status = 10
