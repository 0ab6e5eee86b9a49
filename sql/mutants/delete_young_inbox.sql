-- delete_old_inbox without a look at the age: as if no message could come again.
-- $1 bigint older than, ms · $2 int page size
DELETE FROM consumer_inbox
 WHERE $1::bigint IS NOT NULL AND ctid = ANY (ARRAY (SELECT ctid FROM consumer_inbox LIMIT $2::int))
