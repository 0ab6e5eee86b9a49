-- claim_tokens that looks without a lock and then takes what it saw, whoever has it by then.
-- $1 bigint activity id · $2 bigint SKU id · $3 uuid[] reservation ids · $4 bigint[] order ids
WITH free AS MATERIALIZED (
  SELECT token_id, unit_no FROM inventory_token
   WHERE activity_id = $1 AND sku_id = $2 AND status = 0
   ORDER BY unit_no
   LIMIT cardinality($4::bigint[])
), dealt AS MATERIALIZED (
  SELECT numbered.token_id, wanted.reservation_id, wanted.order_id
    FROM (SELECT token_id, row_number() OVER (ORDER BY unit_no) AS place FROM free) AS numbered
    JOIN unnest($3::uuid[], $4::bigint[]) WITH ORDINALITY AS wanted (reservation_id, order_id, place) USING (place)
)
UPDATE inventory_token AS t
   SET status = 10, reservation_id = dealt.reservation_id, order_id = dealt.order_id, claimed_at = statement_timestamp(),
       version = t.version + 1
  FROM dealt
 WHERE t.token_id = dealt.token_id
RETURNING t.token_id, t.order_id
