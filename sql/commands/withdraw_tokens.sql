-- CLAIMED or SOLD → RELEASED: off sale for good.
-- $1 bigint[] token ids · $2 uuid[] the reservations that hold them
-- The row count must equal the number of tokens.
UPDATE inventory_token AS t
   SET status = 30, reservation_id = NULL, order_id = NULL, claimed_at = NULL, version = t.version + 1
  FROM unnest($1::bigint[], $2::uuid[]) AS u (token_id, reservation_id)
 WHERE t.token_id = u.token_id AND t.token_id = ANY ($1::bigint[]) AND t.reservation_id = u.reservation_id AND t.status IN (10, 20)
