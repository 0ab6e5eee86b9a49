-- Lets transactions that met locked units queue for the SKU, so that they do not collide again. Held until the end of the transaction.
-- $1 bigint activity id · $2 bigint SKU id
SELECT pg_advisory_xact_lock(hashtextextended($1::bigint || ':' || $2::bigint, 1))
