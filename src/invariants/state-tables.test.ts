/** The judges' transcription covers every status the domain has, leaves final states final, and differs from the system's table only where it says so. */
import { describe, expect, it } from 'vitest';
import { edgesOf } from '../domain/state-table.js';
import { OrderStatus, PaymentStatus, ReservationStatus, TokenStatus } from '../domain/status-codes.js';
import { isLegalEdge, ORDER_STATES, PAYMENT_STATES, RESERVATION_STATES, TOKEN_STATES, type StateTable } from './state-tables.js';

const TABLES = [
  [ORDER_STATES, OrderStatus, 'order', []],
  // One statement may insert the finished row.
  [RESERVATION_STATES, ReservationStatus, 'reservation', ['→10', '→20']],
  // Withdrawn from sale before anybody took it.
  [TOKEN_STATES, TokenStatus, 'unit', ['0→30']],
  // One transaction may make the record in the state that the money is in.
  [PAYMENT_STATES, PaymentStatus, 'payment', ['→10', '→20', '→30', '→40']],
] as const;

function edgesOfJudge(table: StateTable): string[] {
  return [...table.initial.map((to) => `→${String(to)}`), ...Object.entries(table.edges).flatMap(([from, to]) => to.map((state) => `${from}→${String(state)}`))];
}

describe('state tables', () => {
  it.each(TABLES)('name every status of the domain', (table, statuses) => {
    const named = Object.fromEntries(Object.entries(table.names).map(([number, name]) => [name, Number(number)]));
    expect(named).toEqual(statuses);
    for (const [from, to] of Object.entries(table.edges)) for (const state of [Number(from), ...to]) expect(table.names[state]).toBeDefined();
  });

  it.each(TABLES)('agree with the table of the system', (table, _, machine, beyond) => {
    const ofSystem = [...edgesOf(machine)].flatMap(([from, to]) => to.map((state) => `${from === null ? '' : String(from)}→${String(state)}`));
    // Units are seeded before anybody looks.
    const seeded = machine === 'unit' ? ['→0'] : [];
    expect(edgesOfJudge(table).sort()).toEqual([...ofSystem, ...beyond, ...seeded].sort());
  });

  it('never turns a cancelled order into a paid one, nor a paid one into a cancelled one', () => {
    expect(isLegalEdge(ORDER_STATES, 40, 30)).toBe(false);
    expect(isLegalEdge(ORDER_STATES, 30, 40)).toBe(false);
    expect(isLegalEdge(ORDER_STATES, 40, 60)).toBe(false);
    expect(isLegalEdge(RESERVATION_STATES, 50, 10)).toBe(false);
    expect(isLegalEdge(RESERVATION_STATES, 60, 10)).toBe(false);
    expect(isLegalEdge(PAYMENT_STATES, 50, 20)).toBe(false);
  });
});
