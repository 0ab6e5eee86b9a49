-- Every ledger entry (LedgerRow), oldest first.
SELECT ledger_id::text AS "ledgerId", idempotency_key AS "idempotencyKey", reservation_id::text AS "reservationId",
       order_id::text AS "orderId", inventory_bucket::int AS "bucketNo", inventory_token_id::text AS "inventoryTokenId",
       ledger_type::int AS "type", reason AS "reason", available_delta AS "availableDelta", allocated_delta AS "allocatedDelta",
       before_available AS "beforeAvailable", after_available AS "afterAvailable",
       before_allocated AS "beforeAllocated", after_allocated AS "afterAllocated"
  FROM inventory_ledger ORDER BY ledger_id
