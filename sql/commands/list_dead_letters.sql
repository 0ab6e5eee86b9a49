-- Dead letters, oldest first, with the state of their reservation.
-- $1 int only this status, null: all · $2 int at most so many, null: all
SELECT d.dead_letter_id, d.cause, d.detail, d.attempts, d.message_id::text, d.reservation_id::text, d.status::int, d.resolution,
       d.first_seen_at, d.dead_at, r.status::int AS reservation_status
  FROM dead_letter AS d
  LEFT JOIN inventory_reservation AS r ON r.reservation_id = d.reservation_id
 WHERE $1::int IS NULL OR d.status = $1::int
 ORDER BY d.created_at, d.dead_letter_id
 LIMIT $2::int
