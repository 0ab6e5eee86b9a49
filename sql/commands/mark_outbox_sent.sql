-- SENDING → SENT, only by the claim that still holds the events.
-- $1 uuid[] event ids · $2 text name of the claim
UPDATE event_outbox
   SET status = 20, sent_at = statement_timestamp(), locked_by = NULL, locked_at = NULL, last_error = NULL, updated_at = statement_timestamp()
 WHERE event_id = ANY ($1::uuid[]) AND status = 10 AND locked_by = $2
