-- REFUND_PENDING → REFUNDED: the channel has confirmed.
-- $1 uuid payment id
UPDATE payment_record
   SET status = 50, version = version + 1, updated_at = statement_timestamp()
 WHERE payment_id = $1 AND status = 40
