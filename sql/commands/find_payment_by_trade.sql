-- The payment that a trade belongs to.
-- $1 text provider · $2 text trade number
SELECT payment_id, order_id, status FROM payment_record WHERE provider = $1 AND provider_trade_no = $2
