-- The answer to a callback of this transaction.
-- $1 text provider · $2 text callback id · $3 text result · $4 text reason (or null) · $5 uuid payment id (or null)
UPDATE payment_callback SET result = $3::text, reason = $4::text, payment_id = $5::uuid WHERE provider = $1 AND callback_id = $2
