/**
 * Entry of the reaper: a detached process that outlives its lab by the moment it takes to clean up, or, after `up`, until `down`.
 * Its life is the lab's pipe: when stdin ends, the lab is gone, whatever killed it. Plain Node, about 40 MB.
 */
import { createReaper } from './reaper.js';

/** Long enough for the last answer to be read; the lab waits for the exit. */
const FLUSH_MS = 50;

const reaper = createReaper((problems) => {
  setTimeout(() => process.exit(problems.length === 0 ? 0 : 1), FLUSH_MS);
});
// `down` sends SIGTERM; the rest must not end it before it has cleaned up.
process.on('SIGTERM', () => void reaper.end());
for (const signal of ['SIGINT', 'SIGHUP', 'SIGPIPE'] as const) process.on(signal, () => undefined);
process.on('uncaughtException', (error) => {
  process.stderr.write(`${String(error.stack)}\n`);
  void reaper.end();
});
process.stderr.on('error', () => undefined);
reaper.serve(process.stdin, process.stdout, true);
