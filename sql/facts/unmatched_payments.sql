-- Money that fits no order (UnmatchedPaymentRow).
SELECT unmatched_id::text AS "unmatchedId", provider AS "provider", provider_trade_no AS "tradeNo", claimed_order_id AS "claimedOrderId",
       amount::text AS "amount", currency AS "currency", status::int AS "status", reason AS "reason"
  FROM unmatched_payment ORDER BY unmatched_id
