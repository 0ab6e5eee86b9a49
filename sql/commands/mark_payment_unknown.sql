-- CREATED → UNKNOWN: the channel does not know, or does not answer.
-- $1 uuid payment id
UPDATE payment_record
   SET status = 10, version = version + 1, updated_at = statement_timestamp()
 WHERE payment_id = $1 AND status = 0
