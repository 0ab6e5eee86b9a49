-- Units of the token allocator (TokenRow).
SELECT token_id::text AS "tokenId", sku_id::text AS "skuId", status::int AS "status", reservation_id::text AS "reservationId"
  FROM inventory_token ORDER BY token_id
