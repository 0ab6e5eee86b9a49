-- What an earlier callback said, and what it was answered.
-- $1 text provider · $2 text callback id
SELECT provider_trade_no, claimed_order_id, amount, currency, told_status, result, reason, payment_id
  FROM payment_callback WHERE provider = $1 AND callback_id = $2
