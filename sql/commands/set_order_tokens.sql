-- Writes the claimed unit into its order.
-- $1 bigint[] order ids · $2 bigint[] token ids
-- The row count must equal the number of orders.
UPDATE orders AS o SET inventory_token_id = u.token_id
  FROM unnest($1::bigint[], $2::bigint[]) AS u (order_id, token_id)
 WHERE o.order_id = u.order_id AND o.inventory_token_id IS NULL
