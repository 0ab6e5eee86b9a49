-- Every payment attempt (PaymentRow).
SELECT payment_id::text AS "paymentId", order_id::text AS "orderId", status::int AS "status", amount::text AS "amount"
  FROM payment_record ORDER BY payment_id
