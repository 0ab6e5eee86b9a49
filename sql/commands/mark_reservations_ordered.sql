-- PENDING_DB → ORDERED (paper 001 §9.6). The purchase number is that of the order: the message's is only what the gateway supposed.
-- $1 uuid[] reservation ids · $2 bigint[] order ids · $3 int[] purchase numbers
-- Returns the new versions; the row count must equal the number of reservations.
UPDATE inventory_reservation AS r
   SET status = 10, order_id = u.order_id, purchase_no = u.purchase_no, ordered_at = statement_timestamp(), version = r.version + 1,
       updated_at = statement_timestamp()
  FROM unnest($1::uuid[], $2::bigint[], $3::int[]) AS u (reservation_id, order_id, purchase_no)
 WHERE r.reservation_id = u.reservation_id AND r.status = 0
RETURNING r.reservation_id, r.version
