-- Takes back orders of this transaction that got no unit (paper 001 §7.4). They have no items yet.
-- $1 bigint[] order ids
-- The row count must equal the number of orders.
DELETE FROM orders WHERE order_id = ANY ($1::bigint[])
