/**
 * CLOCK_MONOTONIC of the host in microseconds, the time of all facts. `performance.now` reads the same clock from the process's own origin and
 * makes no BigInt, so it is read on the hot path and shifted by the origin, which is measured once.
 */
function measureOriginUs(): number {
  let best = { spreadMs: Infinity, originUs: 0 };
  // The reading with the least time between its two neighbours is the least disturbed one.
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const before = performance.now();
    const monoNs = process.hrtime.bigint();
    const after = performance.now();
    if (after - before < best.spreadMs) best = { spreadMs: after - before, originUs: Number(monoNs) / 1000 - ((before + after) / 2) * 1000 };
  }
  return best.originUs;
}

const originUs = measureOriginUs();

export function monoNowUs(): number {
  return performance.now() * 1000 + originUs;
}
