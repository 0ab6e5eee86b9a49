-- Holds one OPEN dead letter for a replay; none where it is not open, or where another replay holds it.
-- $1 text dead letter id
SELECT dead_letter_id, letter FROM dead_letter WHERE dead_letter_id = $1::text AND status = 0 FOR UPDATE SKIP LOCKED
