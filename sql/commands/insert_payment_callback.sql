-- Keeps a callback as it came. A callback id that is there already is waited for, then left alone.
-- $1 text provider · $2 text callback id · $3 text trade number · $4 text order id as told · $5 bigint amount · $6 text currency · $7 text status told
INSERT INTO payment_callback (provider, callback_id, provider_trade_no, claimed_order_id, amount, currency, told_status)
VALUES ($1::text, $2::text, $3::text, $4::text, $5::bigint, $6::text, $7::text)
ON CONFLICT (provider, callback_id) DO NOTHING
RETURNING callback_id
