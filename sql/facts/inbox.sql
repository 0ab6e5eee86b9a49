-- Every handled message (InboxRow).
SELECT consumer_group AS "consumerGroup", message_id::text AS "messageId", reservation_id::text AS "reservationId",
       result_code AS "resultCode", order_id::text AS "orderId"
  FROM consumer_inbox ORDER BY consumer_group, message_id
