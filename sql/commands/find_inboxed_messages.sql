-- Which of these messages have been handled, whatever became of them: worked off, or known as dead letters, which the undertaker sees to.
-- $1 text consumer group · $2 uuid[] message ids
SELECT message_id FROM consumer_inbox WHERE consumer_group = $1::text AND message_id = ANY ($2::uuid[])
UNION
SELECT message_id FROM dead_letter WHERE message_id = ANY ($2::uuid[])
