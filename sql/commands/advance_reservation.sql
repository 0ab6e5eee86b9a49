-- Another event of the reservation without a change of its state: its order was paid.
-- $1 uuid reservation id
UPDATE inventory_reservation
   SET version = version + 1, updated_at = statement_timestamp()
 WHERE reservation_id = $1 AND status = 10
RETURNING version
