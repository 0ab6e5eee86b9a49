-- advance_reservation without a look at the state.
-- $1 uuid reservation id
UPDATE inventory_reservation
   SET version = version + 1, updated_at = statement_timestamp()
 WHERE reservation_id = $1
RETURNING version
