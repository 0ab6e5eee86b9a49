-- Claims up to one free unit per order and gives them out in the order of the batch (paper 000 §9.3). MATERIALIZED is not decoration:
-- a plan that ran the inner select again for each outer row would lock, and claim, more units than the limit.
-- $1 bigint activity id · $2 bigint SKU id · $3 uuid[] reservation ids · $4 bigint[] order ids
-- Returns order and token; fewer rows than orders means exhausted or locked by others (any_free_token tells which).
WITH free AS MATERIALIZED (
  SELECT token_id FROM inventory_token
   WHERE activity_id = $1 AND sku_id = $2 AND status = 0
   ORDER BY token_id
   LIMIT cardinality($4::bigint[])
     FOR UPDATE SKIP LOCKED
), dealt AS MATERIALIZED (
  SELECT numbered.token_id, wanted.reservation_id, wanted.order_id
    FROM (SELECT token_id, row_number() OVER (ORDER BY token_id) AS place FROM free) AS numbered
    JOIN unnest($3::uuid[], $4::bigint[]) WITH ORDINALITY AS wanted (reservation_id, order_id, place) USING (place)
)
UPDATE inventory_token AS t
   SET status = 10, reservation_id = dealt.reservation_id, order_id = dealt.order_id, claimed_at = statement_timestamp(),
       version = t.version + 1
  FROM dealt
 WHERE t.token_id = dealt.token_id AND t.status = 0
RETURNING t.token_id, t.order_id
