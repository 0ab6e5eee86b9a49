-- Claims a page of due events; several relays share the work by SKIP LOCKED. An event waits while an earlier one of its aggregate is not
-- SENT, a DEAD one included: events of one order are never overtaken on their topic (CASES C33). A timer lies on a topic of its own.
-- The plan must not rest on statistics: they say "nothing is unsent" when a burst begins, and what is a look-up per event becomes a walk through all
-- unsent ones (3,000 of them: 620 ms a page; 20,000: past the statement timeout). OFFSET 0 keeps the look-up one, `+ 0` the partial indexes out of the update.
-- $1 int page size · $2 text name of this claim
WITH candidates AS MATERIALIZED (
  SELECT o.event_id FROM event_outbox AS o
   WHERE o.status IN (0, 30) AND o.available_at <= statement_timestamp()
     AND NOT EXISTS (SELECT 1 FROM event_outbox AS earlier
                      WHERE earlier.aggregate_id = o.aggregate_id AND earlier.aggregate_version < o.aggregate_version
                        AND earlier.topic = o.topic AND earlier.status <> 20 OFFSET 0)
   ORDER BY o.available_at, o.created_at, o.event_id
   LIMIT $1::int
     FOR UPDATE SKIP LOCKED
)
UPDATE event_outbox AS o
   SET status = 10, locked_by = $2::text, locked_at = statement_timestamp(), updated_at = statement_timestamp()
 WHERE o.event_id = ANY (ARRAY (SELECT event_id FROM candidates)) AND o.status + 0 IN (0, 30)
RETURNING o.event_id, o.topic, o.tag, o.message_key, o.aggregate_id, o.payload::text AS payload, o.headers, o.retry_count, o.max_retry
