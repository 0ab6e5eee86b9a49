-- Every dead letter that the undertaker kept (DeadLetterRow).
SELECT dead_letter_id AS "deadLetterId", origin_topic AS "originTopic", origin_partition AS "originPartition", origin_offset::text AS "originOffset",
       message_id::text AS "messageId", reservation_id::text AS "reservationId", cause AS "cause", attempts AS "attempts",
       status::int AS "status", resolution AS "resolution"
  FROM dead_letter ORDER BY dead_letter_id
