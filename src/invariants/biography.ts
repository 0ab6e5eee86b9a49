/**
 * The story of one witness through all stores: what the client was told, the Redis record, the topics, Inbox, tables, ledger, Outbox, the commit
 * log, and what was broken meanwhile. In order of time; lines without a time come last.
 */
import type { Facts } from '../facts/facts.js';
import type { BiographyLine } from '../facts/verdict.js';
import { clientLines, faultLines } from './biography-client.js';
import { commitLogLines, kafkaLines, postgresLines, redisLines } from './biography-stores.js';
import { identityOf } from './identity.js';
import type { Subject, TimedLine } from './story.js';
import { wallOf } from './wall-time.js';

/** One user can have ten thousand requests; nobody reads on after this many lines. */
const LINES_MAX = 60;

export function biographyOf(facts: Facts, subject: Subject, linesMax = LINES_MAX): readonly BiographyLine[] {
  const identity = identityOf(facts, subject);
  const lines = [
    ...clientLines(facts, identity), ...redisLines(facts, identity), ...kafkaLines(facts, identity), ...postgresLines(facts, identity),
    ...commitLogLines(facts, identity),
  ];
  const byTime = (left: TimedLine, right: TimedLine): number => (left.wallUs ?? Infinity) - (right.wallUs ?? Infinity) || 0;
  const story = lines.sort(byTime).slice(0, linesMax);
  const moments = story.flatMap((line) => (line.wallUs === null ? [] : [line.wallUs]));
  const whole = moments.length === 0 ? story : [...story, ...faultLines(facts, Math.min(...moments), Math.max(...moments))].sort(byTime);
  const left = lines.length - story.length;
  const told = whole.map(({ wallUs, source, text }) => ({ at: wallUs === null ? null : wallOf(wallUs), source, text }));
  return left > 0 ? [...told, { at: null, source: 'client', text: `… and ${String(left)} more lines` }] : told;
}
