/** The rules that all judges share. */
import { describe, expect, it } from 'vitest';

import { handWrittenFacts } from './hand-written-facts.test-support.js';
import { tallyFor } from './tally.js';

const open = () => tallyFor({ name: 'a judge', needs: [], comparesStores: false }, handWrittenFacts({ arrivals: 10, stock: 3 }));

describe('a judge that found nothing to check', () => {
  it('does not say that it holds', () => {
    expect(open().verdict()).toMatchObject({ outcome: 'unknown', checked: 0, note: 'there was nothing to check' });
  });

  it('may hold where the run does not ask its question', () => {
    const tally = open();
    tally.notAsked('nobody pays in this run');
    expect(tally.verdict()).toMatchObject({ outcome: 'holds', note: '0 checked; nobody pays in this run' });
  });

  it('is not excused by that from what it finds', () => {
    const tally = open();
    tally.notAsked('nobody pays in this run');
    tally.violation({ kind: 'order', id: '7', claim: 'Order 7 was paid.', subject: { orderId: '7' } });
    expect(tally.verdict()).toMatchObject({ outcome: 'violated', violations: 1 });
  });

  it('holds as soon as there was one', () => {
    const tally = open();
    tally.check();
    expect(tally.verdict()).toMatchObject({ outcome: 'holds', checked: 1 });
  });
});
