/** What was added is never denied; of others, few are held up. */
import { expect, test } from 'vitest';

import { hashOfBytes, PresenceFilter } from './presence-filter.js';

test('never denies what was added, and denies nearly all others', () => {
  for (const idOf of [(n: number) => `r7-${String(n)}`, (n: number) => String(1_000_000_000 + n), (n: number) => `018f0000-0000-7000-8000-${String(n).padStart(12, '0')}`]) {
    const filter = new PresenceFilter();
    for (let n = 0; n < 30_000; n += 3) filter.add(idOf(n));
    let held = 0;
    for (let n = 0; n < 300_000; n += 1) {
      const holds = filter.mayHold(idOf(n));
      const bytes = Buffer.from(`..${idOf(n)}..`, 'latin1');
      if (filter.mayHoldHash(hashOfBytes(bytes, 2, bytes.length - 2)) !== holds) throw new Error(`${idOf(n)} has another hash as bytes`);
      if (n < 30_000 && n % 3 === 0) expect(holds).toBe(true);
      else if (holds) held += 1;
    }
    expect(held / 290_000).toBeLessThan(0.002);
  }
  expect(new PresenceFilter().mayHold('')).toBe(false);
});
