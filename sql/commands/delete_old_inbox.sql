-- Deletes one page of Inbox rows that no replay can reach any more. ANY (ARRAY …): rows by their place, not by a second search.
-- $1 bigint older than, ms · $2 int page size
DELETE FROM consumer_inbox
 WHERE ctid = ANY (ARRAY (SELECT ctid FROM consumer_inbox
                           WHERE processed_at < statement_timestamp() - $1::bigint * interval '1 millisecond'
                           LIMIT $2::int FOR UPDATE SKIP LOCKED))
