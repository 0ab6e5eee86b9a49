-- Events whose relay died between claim and mark become claimable again (paper 001 §9.8). Not counted as a try: nobody knows whether it was one.
-- $1 bigint lease, ms
UPDATE event_outbox
   SET status = 30, available_at = statement_timestamp(), locked_by = NULL, locked_at = NULL, last_error = 'SEND_LEASE_EXPIRED',
       updated_at = statement_timestamp()
 WHERE status = 10 AND locked_at < statement_timestamp() - $1::bigint * INTERVAL '1 millisecond'
