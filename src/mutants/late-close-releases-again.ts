/**
 * late-close-releases-again: a close message gives the unit back whatever has become of the order (paper `004` §6: "may come late, and twice"). Here it comes after
 * the user has cancelled, and the unit of one order returns twice.
 */
import type { Mutant } from './mutant.js';
import { shortLives } from './plans/lives.js';
import { wrongStatement } from './wrong-source.js';

export const lateCloseReleasesAgain: Mutant = {
  name: 'late-close-releases-again',
  description: 'A late close message releases an order that was cancelled before.',
  warnedBy: '004 §6 and 001 §9.10',
  caughtBy: 'release-once',
  showsUnder: shortLives,
  sql: [],
  overrides: (config) =>
    config.role === 'closer'
      ? {
          statements: {
            expire_orders: wrongStatement('expire_cancelled_orders_too'),
            release_reservations: wrongStatement('release_again'),
            insert_ledger_releases: wrongStatement('insert_any_ledger_release'),
          },
        }
      : {},
};
