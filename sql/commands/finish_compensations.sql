-- RUNNING → DONE, or CANCELLED where there was nothing to do, only by the claim that still holds the tasks.
-- $1 uuid[] task ids · $2 bool[] cancelled · $3 text[] notes (or null) · $4 text name of the claim
UPDATE compensation_task AS t
   SET status = CASE WHEN f.cancelled THEN 50 ELSE 20 END, completed_at = statement_timestamp(), locked_by = NULL, locked_at = NULL,
       last_error = f.note, updated_at = statement_timestamp()
  FROM unnest($1::uuid[], $2::boolean[], $3::text[]) AS f (task_id, cancelled, note)
 WHERE t.task_id = f.task_id AND t.status = 10 AND t.locked_by = $4
