-- Gives the lease back before its time, so that the next holder need not wait.
-- $1 text lease · $2 text holder
UPDATE reconciler_lease SET expires_at = statement_timestamp() - interval '1 ms' WHERE lease_name = $1::text AND holder = $2::text
