-- Results of messages that were handled before.
-- $1 text group · $2 uuid[] message ids
SELECT message_id, result_code, order_id FROM consumer_inbox WHERE consumer_group = $1 AND message_id = ANY ($2::uuid[])
