-- Payment attempts of an order, newest first. Asked under the lock of its reservation.
-- $1 bigint order id
SELECT payment_id, provider, provider_trade_no, status, amount, currency FROM payment_record WHERE order_id = $1 ORDER BY created_at DESC, payment_id DESC
