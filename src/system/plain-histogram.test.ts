/** Shows what prom-client's own histogram shows of the same observations. */
import { Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';

import { PlainHistogram } from './plain-histogram.js';

test('shows the text of prom-client for the same observations', async () => {
  const [theirs, ours] = [new Registry(), new Registry()];
  for (const registry of [theirs, ours]) registry.setDefaultLabels({ role: 'gateway' });
  const buckets = [0.1, 0.5, 1];
  const histogram = new Histogram({ name: 'duration', help: 'Durations', labelNames: ['kind'], buckets, registers: [theirs] });
  const plain = new PlainHistogram('duration', 'Durations', buckets);
  plain.registerAt(ours);
  histogram.zero({ kind: 'a' });
  const [a, b] = [plain.series({ kind: 'a' }), plain.series({ kind: 'b' })];
  histogram.zero({ kind: 'b' });
  for (const value of [0, 0.1, 0.25, 0.5, 0.75, 1, 2]) {
    histogram.labels({ kind: 'b' }).observe(value);
    b.observe(value);
  }
  a.observe(4);
  histogram.labels({ kind: 'a' }).observe(4);
  expect(await ours.metrics()).toBe(await theirs.metrics());
});
