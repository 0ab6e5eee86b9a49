/**
 * mark-never-cleared: an order ends, its unit goes back on sale, and the mark of its user stays (papers `000` §10.1, `004` §9). Fresh users buy the units, so every sum
 * is right; whoever cancelled hears for ever that he has one.
 */
import type { StockPort } from '../system/stock/stock-port.js';
import type { Mutant } from './mutant.js';
import { secondChances } from './plans/lives.js';

function keepingMarks(stock: StockPort): StockPort {
  return { ...stock, project: (sku, updates) => stock.project(sku, updates.map((update) => ({ ...update, clearsUserMark: false }))) };
}

export const markNeverCleared: Mutant = {
  name: 'mark-never-cleared',
  description: 'What ends gives its unit back and leaves its user marked.',
  warnedBy: '004 §9',
  caughtBy: 'redis-conservation',
  showsUnder: secondChances,
  sql: [],
  overrides: ({ role }) => (role === 'projector' || role === 'compensator' || role === 'scanner' ? { wrap: { stock: keepingMarks } } : {}),
};
