-- Takes or renews the lease, by the clock of this server.
-- $1 text lease · $2 text holder · $3 bigint lease in ms
-- Returns the token; nothing while another holds it.
INSERT INTO reconciler_lease AS l (lease_name, holder, token, expires_at)
VALUES ($1::text, $2::text, 1, statement_timestamp() + $3::bigint * interval '1 ms')
ON CONFLICT (lease_name) DO UPDATE
   SET token = CASE WHEN l.holder = excluded.holder THEN l.token ELSE l.token + 1 END,
       holder = excluded.holder,
       expires_at = excluded.expires_at
 WHERE l.holder = excluded.holder OR l.expires_at < statement_timestamp()
RETURNING token
