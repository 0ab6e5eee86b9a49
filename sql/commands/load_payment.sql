-- What a refund needs to know.
-- $1 uuid payment id
SELECT p.payment_id, p.order_id, p.provider, p.provider_trade_no, p.amount, p.currency, p.status, o.status AS order_status
  FROM payment_record AS p JOIN orders AS o ON o.order_id = p.order_id
 WHERE p.payment_id = $1
