-- Every payment attempt (PaymentRow).
SELECT payment_id::text AS "paymentId", order_id::text AS "orderId", status::int AS "status", provider AS "provider",
       provider_trade_no AS "tradeNo", callback_id AS "callbackId", amount::text AS "amount", currency AS "currency",
       (extract(epoch FROM paid_at) * 1000000)::int8::text AS "paidAtUs",
       (extract(epoch FROM created_at) * 1000000)::int8::text AS "createdAtUs", version::text AS "version"
  FROM payment_record ORDER BY payment_id
