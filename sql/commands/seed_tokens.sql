-- $1 bigint activity id · $2 bigint SKU id · $3 int stock
INSERT INTO inventory_token (activity_id, sku_id, unit_no) SELECT $1::bigint, $2::bigint, no FROM generate_series(1, $3::int) AS g (no)
