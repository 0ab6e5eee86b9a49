// The state table: its edges, and the guards of the SQL statements that carry them out.
import { readFileSync, readdirSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { edgesOf, moveOf, TRANSITION_NAMES, TRANSITIONS, type MachineName, type TransitionName, type UnitFate } from './state-table.js';

const COMMANDS = new URL('../../sql/commands/', import.meta.url);
const textOf = (name: string): string => readFileSync(new URL(`${name}.sql`, COMMANDS), 'utf8').replace(/^--.*$/gm, '');

/** Which moves a statement carries out. One that serves several transitions guards by all their origins. */
const STATEMENTS: Readonly<Record<string, { readonly machine: MachineName; readonly transitions: readonly TransitionName[]; readonly fate?: UnitFate }>> = {
  insert_orders: { machine: 'order', transitions: ['place'] },
  start_paying_order: { machine: 'order', transitions: ['start-paying'] },
  pay_order: { machine: 'order', transitions: ['pay'] },
  expire_orders: { machine: 'order', transitions: ['expire'] },
  cancel_order: { machine: 'order', transitions: ['cancel'] },
  request_order_refund: { machine: 'order', transitions: ['request-refund'] },
  close_refunded_order: { machine: 'order', transitions: ['complete-refund'] },
  insert_reservations: { machine: 'reservation', transitions: ['arrive'] },
  mark_reservations_ordered: { machine: 'reservation', transitions: ['place'] },
  mark_reservations_rejected: { machine: 'reservation', transitions: ['refuse'] },
  insert_closed_reservation: { machine: 'reservation', transitions: ['lapse'] },
  end_manual_reservation: { machine: 'reservation', transitions: ['end-by-hand'] },
  hand_over_reservation: { machine: 'reservation', transitions: ['hand-over'] },
  hold_reservation_for_refund: { machine: 'reservation', transitions: ['request-refund'] },
  release_reservations: { machine: 'reservation', transitions: ['expire', 'cancel', 'complete-refund'] },
  claim_tokens: { machine: 'unit', transitions: ['place'] },
  sell_tokens: { machine: 'unit', transitions: ['pay'] },
  restock_tokens: { machine: 'unit', transitions: ['expire', 'cancel', 'complete-refund'], fate: 'restocked' },
  withdraw_tokens: { machine: 'unit', transitions: ['expire', 'cancel', 'complete-refund'], fate: 'withdrawn' },
  insert_payment: { machine: 'payment', transitions: ['start-paying'] },
  settle_payment: { machine: 'payment', transitions: ['pay'] },
  turn_payment_back: { machine: 'payment', transitions: ['late-payment'] },
  fail_payment: { machine: 'payment', transitions: ['payment-failed'] },
  mark_payment_unknown: { machine: 'payment', transitions: ['payment-unknown'] },
  request_payment_refund: { machine: 'payment', transitions: ['request-refund'] },
  refund_payment: { machine: 'payment', transitions: ['complete-refund', 'return-late-payment'] },
};

const TABLES: Readonly<Record<MachineName, string>> = { order: 'orders', reservation: 'inventory_reservation', unit: 'inventory_token', payment: 'payment_record' };
const ORDER_OF_COLUMNS = /INSERT INTO \w+ \(([^)]*)\)\s*(?:SELECT|VALUES \()([\s\S]*?)(?:\n {2}FROM|\)\nON CONFLICT)/;

/** State that an UPDATE sets or an INSERT writes. */
function stateSet(text: string): number {
  const set = /SET status = (\d+)/.exec(text);
  if (set !== null) return Number(set[1]);
  const [, columns = '', values = ''] = ORDER_OF_COLUMNS.exec(text) ?? [];
  // Whole values only: a CASE or a call has commas and brackets of its own.
  const flat = values.replace(/CASE[\s\S]*?END/g, 'x').replace(/\([^()]*\)/g, '').replace(/\([^()]*\)/g, '');
  return Number(flat.split(',')[columns.split(',').findIndex((column) => column.trim() === 'status')]);
}

/** States that the WHERE of the row that is changed lets through; none for an INSERT. */
function guardOf(text: string): number[] {
  if (text.includes('INSERT INTO')) return [];
  const where = text.slice(text.lastIndexOf('WHERE'));
  const [, list = ''] = /status (?:IN \(|= )([\d, ]+)/.exec(where) ?? [];
  return list.split(',').map(Number).toSorted((one, other) => one - other);
}

describe('SQL guards', () => {
  it.each(Object.entries(STATEMENTS))('%s', (name, { machine, transitions, fate = 'restocked' }) => {
    const text = textOf(name);
    const moves = transitions.map((transition) => moveOf(transition, machine, fate));
    expect(text).toMatch(new RegExp(`(UPDATE|INTO) ${TABLES[machine]}\\b`));
    expect(new Set(moves.map((move) => move?.to))).toEqual(new Set([stateSet(text)]));
    const origins = [...new Set(moves.flatMap((move) => move?.from ?? []))].toSorted((one, other) => one - other);
    expect(guardOf(text)).toEqual(origins);
  });

  it('every statement that writes a state of these tables is compared', () => {
    const writes = readdirSync(COMMANDS).map((file) => file.replace(/\.sql$/, '')).filter((name) => {
      const text = textOf(name);
      return Object.values(TABLES).some((table) => new RegExp(`UPDATE ${table}\\b`).test(text) && text.includes('SET status ='))
        || Object.values(TABLES).some((table) => new RegExp(`INSERT INTO ${table} \\([^)]*\\bstatus\\b`).test(text));
    });
    expect(writes.filter((name) => !Object.hasOwn(STATEMENTS, name))).toEqual([]);
  });

  it('every move of the table has its statement', () => {
    const carried = new Set(Object.values(STATEMENTS).flatMap(({ machine, transitions }) => transitions.map((transition) => `${transition} ${machine}`)));
    const missing = TRANSITION_NAMES.flatMap((name) => (['order', 'reservation', 'unit', 'payment'] as const).filter((machine) => moveOf(name, machine, 'restocked') !== null).map((machine) => `${name} ${machine}`))
      .filter((move) => !carried.has(move));
    expect(missing).toEqual([]);
  });

  it('a wrong guard is noticed', () => {
    expect(guardOf('UPDATE orders SET status = 30 WHERE order_id = $1 AND status IN (10, 20, 40)')).toEqual([10, 20, 40]);
    expect(stateSet('UPDATE orders\n   SET status = 30, x = 1')).toBe(30);
  });
});

describe('edges', () => {
  it('of orders: paid and cancelled exclude each other, ends are ends', () => {
    expect([...edgesOf('order')]).toEqual([[null, [10]], [10, [20, 30, 40]], [20, [30, 40]], [30, [60]], [60, [50]]]);
  });

  it('of reservations and units', () => {
    expect(edgesOf('reservation').get(10)).toEqual([30, 40]);
    expect(edgesOf('reservation').get(40)).toBeUndefined();
    expect([...edgesOf('unit')]).toEqual([[0, [10]], [10, [0, 20, 30]], [20, [0, 30]]]);
  });

  it('an order and its reservation never contradict each other', () => {
    // Whatever the sequence: the reservation holds its unit exactly as long as the order is open, paid, or waits for its money.
    const seen = new Set<string>();
    const walk = (order: number | null, reservation: number | null): void => {
      const key = `${String(order)} ${String(reservation)}`;
      if (seen.has(key)) return;
      seen.add(key);
      if (order !== null) expect([10, 20, 30, 60].includes(order), key).toBe(reservation === 10 || reservation === 30);
      for (const name of TRANSITION_NAMES) {
        const { order: ofOrder, reservation: ofReservation } = { order: moveOf(name, 'order', 'restocked'), reservation: moveOf(name, 'reservation', 'restocked') };
        // A hand-over happens to reservations without a live order only; a human is at work then.
        if (name === 'hand-over' && order !== null) continue;
        const fits = (move: typeof ofOrder, state: number | null): boolean => move === null || (state === null ? move.from.length === 0 : move.from.includes(state));
        if (!fits(ofOrder, order) || !fits(ofReservation, reservation)) continue;
        if (ofOrder === null && ofReservation === null) continue;
        walk(ofOrder?.to ?? order, ofReservation?.to ?? reservation);
      }
    };
    walk(null, null);
    expect(seen.size).toBeGreaterThan(8);
    expect(TRANSITIONS.pay.order.to).toBe(30);
  });
});
