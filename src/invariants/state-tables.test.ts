/** The judges' transcription covers every status the domain has, and leaves final states final. */
import { describe, expect, it } from 'vitest';
import { OrderStatus, ReservationStatus, TokenStatus } from '../domain/status-codes.js';
import { isLegalEdge, ORDER_STATES, RESERVATION_STATES, TOKEN_STATES } from './state-tables.js';

describe('state tables', () => {
  it.each([[ORDER_STATES, OrderStatus], [RESERVATION_STATES, ReservationStatus], [TOKEN_STATES, TokenStatus]] as const)('name every status of the domain', (table, statuses) => {
    const named = Object.fromEntries(Object.entries(table.names).map(([number, name]) => [name, Number(number)]));
    expect(named).toEqual(statuses);
    for (const [from, to] of Object.entries(table.edges)) for (const state of [Number(from), ...to]) expect(table.names[state]).toBeDefined();
  });

  it('never turns a cancelled order into a paid one, nor a paid one into a cancelled one', () => {
    expect(isLegalEdge(ORDER_STATES, 40, 30)).toBe(false);
    expect(isLegalEdge(ORDER_STATES, 30, 40)).toBe(false);
    expect(isLegalEdge(ORDER_STATES, 40, 60)).toBe(false);
    expect(isLegalEdge(RESERVATION_STATES, 50, 10)).toBe(false);
  });
});
