-- The durable state of one request, for the query endpoint. Read on the primary: a replica may not have it yet (paper 001 §14.4).
-- $1 bigint activity id · $2 bigint SKU id · $3 text request id
SELECT r.request_id, r.user_id, r.reservation_id, r.status AS reservation_status, r.failure_code, r.order_id, o.status AS order_status
  FROM inventory_reservation AS r
  LEFT JOIN orders AS o ON o.order_id = r.order_id
 WHERE r.activity_id = $1 AND r.sku_id = $2 AND r.request_id = $3
