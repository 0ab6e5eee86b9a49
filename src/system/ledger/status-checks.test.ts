// The CHECK lists of the migrations and the closed lists of the domain say the same, value for value.
import { describe, expect, test } from 'vitest';

import {
  ActivityStatus, CompensationStatus, CompensationType, DeadLetterStatus, InboxStatus, LedgerType, OrderStatus, OutboxStatus, PaymentStatus,
  ReservationStatus, SkuStatus, TokenStatus, UnmatchedPaymentStatus,
} from '../../domain/status-codes.js';
import { AdjustmentStatus } from '../../domain/reconciliation.js';
import { loadMigrations, loadStatements } from './sql-loader.js';

const LISTS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  ck_activity_status: ActivityStatus,
  ck_sku_status: SkuStatus,
  ck_token_status: TokenStatus,
  ck_reservation_status: ReservationStatus,
  ck_orders_status: OrderStatus,
  ck_payment_status: PaymentStatus,
  ck_unmatched_status: UnmatchedPaymentStatus,
  ck_ledger_type: LedgerType,
  ck_inbox_status: InboxStatus,
  ck_outbox_status: OutboxStatus,
  ck_compensation_type: CompensationType,
  ck_compensation_status: CompensationStatus,
  ck_dead_letter_status: DeadLetterStatus,
  ck_adjustment_status: AdjustmentStatus,
};

const schema = loadMigrations().map(({ text }) => text).join('\n');
const checks = new Map([...schema.matchAll(/CONSTRAINT (ck_\w+_(?:status|type)) CHECK \(\w+ (?:IN \(([\d, ]+)\)|= (\d+))\)/g)]
  .map(([, name, list, single]) => [name ?? '', (list ?? single ?? '').split(',').map(Number)]));

describe('CHECK lists', () => {
  test.each(Object.entries(LISTS))('%s', (name, list) => {
    expect(checks.get(name)).toEqual(Object.values(list));
  });

  test('no status or type column is without its list here', () => {
    expect([...checks.keys()].toSorted()).toEqual(Object.keys(LISTS).toSorted());
  });

  test('every time has a zone', () => {
    expect(schema.match(/\bTIMESTAMP\b(?!TZ)/g)).toBeNull();
  });
});

test('every statement says what its parameters are', () => {
  for (const { name, text } of Object.values(loadStatements())) {
    const used = new Set([...text.replace(/^--.*$/gm, '').matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
    const header = text.split('\n').filter((line) => line.startsWith('--')).join(' ');
    for (const number of used) expect(header, `${name} does not document $${String(number)}`).toContain(`$${String(number)} `);
    expect([...used].toSorted((one, other) => one - other), name).toEqual(Array.from({ length: used.size }, (_, place) => place + 1));
  }
});
