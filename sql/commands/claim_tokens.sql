-- Claims up to one free unit per order and gives them out in the order of the batch (paper 000 §9.3). MATERIALIZED is not decoration:
-- a plan that ran the inner select again for each outer row would lock, and claim, more units than the limit. ANY (ARRAY …) says by which
-- index the claimed rows are found again: the planner takes a tenth of the table for the size of an unknown LIMIT, and would read all of it.
-- $1 bigint activity id · $2 bigint SKU id · $3 uuid[] reservation ids · $4 bigint[] order ids
-- Returns order and token; fewer rows than orders means exhausted or locked by others (any_free_token tells which).
WITH free AS MATERIALIZED (
  SELECT token_id, unit_no FROM inventory_token
   WHERE activity_id = $1 AND sku_id = $2 AND status = 0
   ORDER BY unit_no
   LIMIT cardinality($4::bigint[])
     FOR UPDATE SKIP LOCKED
), dealt AS MATERIALIZED (
  SELECT numbered.token_id, wanted.reservation_id, wanted.order_id
    FROM (SELECT token_id, row_number() OVER (ORDER BY unit_no) AS place FROM free) AS numbered
    JOIN unnest($3::uuid[], $4::bigint[]) WITH ORDINALITY AS wanted (reservation_id, order_id, place) USING (place)
)
UPDATE inventory_token AS t
   SET status = 10, reservation_id = dealt.reservation_id, order_id = dealt.order_id, claimed_at = statement_timestamp(),
       version = t.version + 1
  FROM dealt
 WHERE t.token_id = dealt.token_id AND t.token_id = ANY (ARRAY (SELECT token_id FROM free)) AND t.status = 0
RETURNING t.token_id, t.order_id
