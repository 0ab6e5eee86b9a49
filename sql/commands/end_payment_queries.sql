-- The channel has never heard of this payment. Ends the asking where that is definite: its order has not been payable for so long that money on its way would have
-- arrived. The payment itself stays open for a callback that comes all the same.
-- $1 uuid payment id · $2 bigint ms
-- Returns the payment when it is not asked about any more.
UPDATE payment_record AS p
   SET next_query_at = NULL, updated_at = statement_timestamp()
 WHERE p.payment_id = $1 AND p.status IN (0, 10)
   AND EXISTS (SELECT 1 FROM orders AS o
                WHERE o.order_id = p.order_id AND o.status NOT IN (10, 20) AND o.updated_at < statement_timestamp() - $2::bigint * INTERVAL '1 millisecond')
RETURNING p.payment_id
