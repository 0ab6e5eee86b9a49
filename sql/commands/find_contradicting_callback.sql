-- Has the channel told of this trade before, however long ago, as money of another amount, currency or order?
-- $1 text provider · $2 text trade number · $3 text the order id told now · $4 bigint amount · $5 text currency
SELECT callback_id
  FROM (SELECT callback_id, provider, provider_trade_no, told_status, claimed_order_id, amount, currency FROM payment_callback
        UNION ALL
        SELECT callback_id, provider, provider_trade_no, told_status, claimed_order_id, amount, currency FROM payment_callback_archive) AS told
 WHERE provider = $1 AND provider_trade_no = $2 AND told_status = 'SUCCEEDED' AND (claimed_order_id <> $3 OR amount <> $4 OR currency <> $5)
 LIMIT 1
