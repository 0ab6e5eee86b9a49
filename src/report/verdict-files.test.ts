/** The three files of a verdict: the JSON follows its schema, the XML is XML, the summary tells no speed of a run that oversold. */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { RunVerdict } from '../facts/verdict.js';
import { junitOf } from './junit.js';
import { sampleInvariant, SAMPLE_FAULT, SAMPLE_VERDICT, SAMPLE_VIOLATED } from './sample-run.test-support.js';
import { verdictDocument } from './save-verdict.js';
import { summaryOf } from './summary.js';

const schema = JSON.parse(readFileSync(new URL('../../schema/verdict.schema.json', import.meta.url), 'utf8')) as Record<string, unknown>;
const validate = new Ajv2020({ strict: true, strictRequired: false, allErrors: true, allowUnionTypes: true }).compile(schema);

function schemaErrors(value: unknown): string[] {
  return validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message ?? ''}`);
}

const EMPTY_EVIDENCE: RunVerdict = {
  ...SAMPLE_VERDICT, outcome: 'unknown', exitCode: 2, faults: [{ ...SAMPLE_FAULT, mayLose: { store: 'redis', fromUs: 1, toUs: 2.5 } }],
  load: { outcome: 'unknown', reasons: ['no history'], generator: null },
  figures: {
    stock: 1, offered: null, issued: null, decided: null, accepted: null, soldOut: null, refusedByCode: {}, orders: null, topicMessages: null, topicDuplicates: null,
    paid: null, released: null, refunds: null, unmatchedPayments: null, deadLetters: null, waitingForHumans: null, funnel: { counts: [], restarted: null }, transport: 'http', cost: { reachedRedis: null, soldOutKnownMs: null, cpuSeconds: {}, stealSeconds: null },
    latencyFromIntended: null, winnersLatency: null, reservationToOrder: null, recoveryMs: null, excused: 0,
  },
};

describe('schema/verdict.schema.json', () => {
  it.each([['green', SAMPLE_VERDICT], ['violated', SAMPLE_VIOLATED], ['without evidence', EMPTY_EVIDENCE]])('accepts a verdict: %s', (_, verdict) => {
    expect(schemaErrors(JSON.parse(verdictDocument(verdict)))).toEqual([]);
  });

  it('names no host and carries the version of the document', () => {
    expect(schema['$id']).toBe(`urn:seckill-lab:schema:verdict:${String(SAMPLE_VERDICT.schemaVersion)}`);
  });

  it.each<[string, object]>([
    ['an unknown field', { ...SAMPLE_VERDICT, extra: 1 }],
    ['another version', { ...SAMPLE_VERDICT, schemaVersion: 1 }],
    ['an outcome that does not exist', { ...SAMPLE_VERDICT, outcome: 'fine' }],
    ['exit code 255', { ...SAMPLE_VERDICT, exitCode: 255 }],
    ['a violated judge without a violation', { ...SAMPLE_VERDICT, invariants: [{ ...sampleInvariant('a', 'violated'), violations: 0 }] }],
    ['a number as text', { ...SAMPLE_VERDICT, figures: { ...SAMPLE_VERDICT.figures, orders: '1000' } }],
    ['a missing figure', { ...SAMPLE_VERDICT, figures: { ...SAMPLE_VERDICT.figures, orders: undefined } }],
  ])('refuses %s', (_, value) => {
    expect(schemaErrors(JSON.parse(JSON.stringify(value)))).not.toEqual([]);
  });
});

/** Checks nesting and escaping of the XML this program writes, which has neither comments nor CDATA; gives the names of all elements. */
function elementsOf(xml: string): string[] {
  const names: string[] = [];
  const open: string[] = [];
  let text = xml.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, '');
  while (text !== '') {
    const token = /^<(\/?)([a-z-]+)((?: [a-z]+="[^"<]*")*)(\/?)>|^[^<]+/.exec(text);
    if (token === null) throw new Error(`no XML at: ${text.slice(0, 80)}`);
    const [whole, closing, name, attributes = '', alone] = token;
    const bare = name === undefined ? whole : attributes;
    if (/&(?!(amp|lt|gt|quot|#9|#10|#13);)/.test(bare)) throw new Error(`bare & at: ${whole.slice(0, 80)}`);
    if (name !== undefined && closing === '/') expect(open.pop()).toBe(name);
    else if (name !== undefined) {
      names.push(name);
      if (alone !== '/') open.push(name);
    }
    text = text.slice(whole.length);
  }
  expect(open).toEqual([]);
  return names;
}

describe('junit.xml', () => {
  it('has one case per invariant, service level, thing to be shown and fault, and one for the load', () => {
    const names = elementsOf(junitOf(SAMPLE_VERDICT));
    expect(names.filter((name) => name === 'testcase')).toHaveLength(2 + 2 + 1 + 1 + 1);
    expect(names.filter((name) => name === 'skipped')).toHaveLength(1);
    expect(names).not.toContain('failure');
    expect(names).not.toContain('error');
  });

  it('says failure of what is violated and error of what is not known', () => {
    const xml = junitOf(SAMPLE_VIOLATED);
    const names = elementsOf(xml);
    expect(names.filter((name) => name === 'failure')).toHaveLength(1);
    // The unknown judge, the fault that did not land, the void load.
    expect(names.filter((name) => name === 'error')).toHaveLength(3);
    expect(xml).toContain('<testsuites name="seckill-lab hot-sku/20260102T030405Z-42" tests="7" failures="1" errors="3" skipped="2" time="0">');
    expect(xml).toContain('two orders hold one unit &lt;&amp;&quot;]]&gt;');
  });

  it('stays XML whatever a message holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (note) => {
        const xml = junitOf({ ...SAMPLE_VERDICT, invariants: [{ ...sampleInvariant('a', 'unknown'), note }] });
        elementsOf(xml);
        // eslint-disable-next-line no-control-regex -- what XML 1.0 forbids
        expect(xml).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/);
        expect(xml).not.toMatch(/\p{Surrogate}/u);
      }),
    );
  });
});

describe('summary.md', () => {
  it('tells a green run with its speed', () => {
    expect(summaryOf(SAMPLE_VERDICT)).toMatchSnapshot();
  });

  it('tells a violated run by its witness and without any speed', () => {
    const summary = summaryOf(SAMPLE_VIOLATED);
    expect(summary).toMatchSnapshot();
    expect(summary.indexOf('## Witness against no-oversell')).toBeLessThan(summary.indexOf('## Figures'));
    expect(summary).not.toContain('p99.9');
  });

  it.each(['violated', 'unknown', 'void'] as const)('tells what was promised and not what was measured, whatever stands in the verdict of a run that is %s', (outcome) => {
    for (const text of [summaryOf({ ...SAMPLE_VERDICT, outcome }), junitOf({ ...SAMPLE_VERDICT, outcome })]) {
      expect(text).toContain('–, promised ≤ 500.0 ms');
      expect(text).toContain('–, promised ≥ 99.00 %');
      // What SAMPLE_VERDICT measured, and its latencies.
      expect(text).not.toMatch(/12\.3 ms|99\.95 %|870 µs|45\.6 ms|1\.23 s|850\.0 ms/);
    }
  });

  it('tells no speed of a run that is void or unknown', () => {
    for (const outcome of ['void', 'unknown'] as const) expect(summaryOf({ ...SAMPLE_VERDICT, outcome })).not.toContain('answer, from the intended time');
  });
});
