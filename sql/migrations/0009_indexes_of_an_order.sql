-- An order was 35 entries in indexes, and each is about a hundredth of what it costs (docs/decisions/0025). Paper 001 §10.3 asks for the fewest indexes that do: here go those
-- by which nothing is looked up. Every key that guards something stays, and so does the list of a user's orders.

-- Searches by hand. One user and SKU are found by uq_orders_user_sku, one reservation or order by its own key, an entry of the ledger by its idempotency key.
DROP INDEX idx_reservation_user_sku;
DROP INDEX idx_inbox_reservation;
DROP INDEX idx_ledger_reservation;
DROP INDEX idx_ledger_order;

-- The same guard without an entry for each row that has no order yet: every reservation is made without one.
ALTER TABLE inventory_reservation DROP CONSTRAINT uq_reservation_order;
CREATE UNIQUE INDEX uq_reservation_order ON inventory_reservation (order_id) WHERE order_id IS NOT NULL;

-- A claim locks the rows it takes, so it reads them anyway; five more columns in the index made each entry three times as long.
DROP INDEX idx_outbox_ready;
CREATE INDEX idx_outbox_ready ON event_outbox (available_at, created_at, event_id) WHERE status IN (0, 30);
