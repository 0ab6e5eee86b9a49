-- Which reservations own these request ids: explains a collision that the unique key has already decided.
-- $1 bigint[] activity ids · $2 bigint[] SKU ids · $3 text[] request ids
SELECT r.activity_id, r.sku_id, r.request_id, r.reservation_id
  FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS wanted (activity_id, sku_id, request_id)
  JOIN inventory_reservation AS r
    ON r.activity_id = wanted.activity_id AND r.sku_id = wanted.sku_id AND r.request_id = wanted.request_id
