-- Money that fits no order, once per trade.
-- $1 uuid id · $2 text provider · $3 text trade number · $4 text order id as told · $5 bigint amount · $6 text currency · $7 text reason ·
-- $8 text the callback (JSON)
INSERT INTO unmatched_payment (unmatched_id, provider, provider_trade_no, claimed_order_id, amount, currency, reason, raw_payload)
VALUES ($1::uuid, $2::text, $3::text, $4::text, $5::bigint, $6::text, $7::text, $8::jsonb)
ON CONFLICT (provider, provider_trade_no) DO NOTHING
