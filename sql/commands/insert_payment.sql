-- A payment attempt, CREATED.
-- $1 uuid payment id · $2 uuid request id at the channel · $3 bigint order id · $4 text provider · $5 bigint amount · $6 text currency ·
-- $7 bigint ms until the channel is asked about it
-- Returns nothing when the order has an open payment at this channel.
INSERT INTO payment_record (payment_id, payment_request_id, order_id, provider, amount, currency, status, next_query_at)
VALUES ($1::uuid, $2::uuid, $3::bigint, $4::text, $5::bigint, $6::text, 0, statement_timestamp() + $7::bigint * INTERVAL '1 millisecond')
ON CONFLICT DO NOTHING
RETURNING payment_id
