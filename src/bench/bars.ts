/** What the benches are held against, in one place: a bar that is moved is seen. */
import type { Bound } from './bound.js';

export const BARS = {
  /** Key by key / ours, processor time of Redis. */
  reserve: { atLeast: 2.8 },
  soldOut: { atLeast: 4 },
  /** This generator / wrk. */
  generatorRate: { atLeast: 0.75 },
  /** This generator / autocannon, processor time per request. */
  generatorCpu: { atMost: 0.75 },
  /** This generator / vegeta. */
  peerRate: { atLeast: 1.3 },
  peerP99: { withinShareOf1: 0.1 },
  inprocIssuedPercent: { atLeast: 99.9 },
  inprocLatenessMs: { atMost: 5 },
  inprocCorePercent: { atMost: 15 },
  /** Gateway / bare `node:http`. */
  gatewayRate: { atLeast: 0.85 },
  /** `batch:500` / pgbench, and / `single`. */
  consumerOfPgbench: { atLeast: 0.5 },
  consumerOfSingle: { atLeast: 5 },
  /** Collected / single sends. */
  producer: { atLeast: 8 },
  ordersWithin3sPercent: { atLeast: 99.9 },
  /** What "at once" may be, from the first reservation to the last. Beyond it the orders had a slower sale to keep up with, which is another measurement. */
  saleMs: { atMost: 1_000 },
  /** A million / ten thousand. */
  growth: { atMost: 1.3 },
} as const satisfies Readonly<Record<string, Bound>>;
