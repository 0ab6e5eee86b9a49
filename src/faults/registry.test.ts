// The option text of a fault: what is accepted, and that every problem of a wrong one is told at once.
import { describe, expect, test } from 'vitest';

import { FAULTS, parseFaultOption } from './registry.js';

function problemsOf(text: string): readonly string[] {
  const parsed = parseFaultOption(text);
  return parsed.ok ? [] : parsed.problems;
}

test.each(FAULTS.map((fault) => [fault.name, fault.example]))('%s: its own example is right', (name, example) => {
  expect(parseFaultOption(example)).toMatchObject({ ok: true, fault: { name } });
});

test.each([
  ['lose-produce-ack@t=3s,n=20', { startsAfterMs: 3_000, strikesAsked: 20, options: { t: '3s', n: '20', mode: 'close', gap: 50 } }],
  ['lose-produce-ack', { startsAfterMs: 0, strikesAsked: 1 }],
  ['pg-outage@t=200ms,s=30', { startsAfterMs: 200, strikesAsked: 1 }],
  ['redis-down@t=1.5,s=1m,mode=freeze', { startsAfterMs: 1_500 }],
  ['kill-role@step=gateway.after-reserve,every=20,times=50', { startsAfterMs: 0, strikesAsked: 50 }],
  ['link-toxic@link=closer-postgres,type=latency,latency=200,s=2', { strikesAsked: 1 }],
  ['link-toxic@link=closer-kafka,type=timeout', { strikesAsked: 1 }],
])('%s', (text, expected) => {
  expect(parseFaultOption(text)).toMatchObject({ ok: true, fault: expected });
});

describe('problems', () => {
  test.each([
    ['nonsense', ['no fault is called "nonsense"']],
    ['lose-produce-ack@t=soon,n=-1,colour=red', ['t is a time', 'n is a whole number from 1', 'has no option colour; it has t n mode gap']],
    ['lose-produce-ack@n', ['"n" is not key=value']],
    ['lose-produce-ack@n=1,n=2', ['n is given twice']],
    ['kill-role@times=3', ['step is missing']],
    ['kill-role@step=gateway.nowhere', ['step is no step: "gateway.nowhere"; one of gateway.admitted']],
    ['kill-role@step=gateway.after-send,instance=first', ['instance is all or the number']],
    ['link-toxic@link=gateway-moon,type=fire', ['link is no link', 'type is one of latency']],
    ['link-toxic@link=gateway-redis,type=latency', ['type=latency needs latency=']],
    ['freeze-role@role=nobody-1', ['role is a role process such as consumer-1']],
    ['pg-outage@s=2h', ['s is a time']],
    ['pg-outage@a@b', ['more than one @']],
  ])('%s', (text, parts) => {
    const problems = problemsOf(text);
    for (const part of parts) expect(problems.join('\n')).toContain(part);
    expect(problems.length).toBeGreaterThanOrEqual(parts.length);
  });
});
