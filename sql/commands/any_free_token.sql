-- After a short claim: is a unit free that another transaction holds locked, or that came back meanwhile? Then it is "try again", not
-- "sold out" (CASES C29). Units of this transaction are no longer free in its own eyes.
-- $1 bigint activity id · $2 bigint SKU id
SELECT EXISTS (SELECT 1 FROM inventory_token WHERE activity_id = $1 AND sku_id = $2 AND status = 0) AS any_free
