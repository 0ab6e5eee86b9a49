/** The faces as text: what a reader sees of a run, in a terminal and in a log. */
import { render } from 'ink-testing-library';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { STAGES, type LabEvent, type Progress } from '../facts/lab-event.js';
import { SAMPLE_VERDICT, SAMPLE_VIOLATED } from '../report/sample-run.test-support.js';
import { finalReport } from './final-report.js';
import { barOf, clip, frameOf } from './frame.js';
import { plainLines } from './plain-progress.js';
import { RunView } from './run-view.js';
import { faceNameFor } from './select-face.js';
import { EMPTY_VIEW, foldEvent } from './view-model.js';

const PROGRESS: Progress = {
  elapsedMs: 5_000, scheduled: 20_000, offered: 10_010, issued: 10_000, decided: 9_990, accepted: 1_000, stockLeft: 0, orders: 950, consumerLag: 50, pending: null,
};

const STORY: readonly LabEvent[] = [
  { kind: 'stage', stage: 'plan', state: 'begin', atUs: 1_000_000 },
  { kind: 'stage', stage: 'plan', state: 'end', atUs: 1_012_000 },
  { kind: 'stage', stage: 'stack', state: 'begin', atUs: 1_012_000 },
  { kind: 'note', text: 'Kafka 4.4.0 is ready', atUs: 4_000_000 },
  { kind: 'role', instance: 'gateway-1', state: 'started', text: 'pid 1', atUs: 4_100_000 },
  { kind: 'role', instance: 'gateway-1', state: 'ready', text: 'pid 1', atUs: 4_200_000 },
  { kind: 'stage', stage: 'stack', state: 'end', atUs: 5_000_000 },
  { kind: 'stage', stage: 'storm', state: 'begin', atUs: 5_000_000 },
  { kind: 'fault', id: 'kill-role#1', state: 'armed', text: 'gateway-1 at gateway.after-reserve', atUs: 5_100_000 },
  { kind: 'fault', id: 'kill-role#1', state: 'landed', text: 'hit 3', atUs: 6_000_000 },
  { kind: 'role', instance: 'gateway-1', state: 'exited', text: 'SIGKILL', atUs: 6_000_100 },
  { kind: 'fault', id: 'kill-role#1', state: 'landed', text: 'hit 6', atUs: 7_000_000 },
  { kind: 'progress', progress: PROGRESS, atUs: 10_000_000 },
];

const view = STORY.reduce(foldEvent, EMPTY_VIEW);
const size = { columns: 100, rows: 24 };
const textOf = (lines: readonly { readonly text: string }[]): string => lines.map((line) => line.text).join('\n');

describe('view model', () => {
  it('keeps one line per fault and counts its strikes', () => {
    expect(view.faults).toEqual([{ id: 'kill-role#1', state: 'landed', strikes: 2, text: 'hit 6' }]);
  });

  it('knows when each stage ran', () => {
    expect(view.stages.map((stage) => stage.name)).toEqual(STAGES);
    expect(view.stages.find((stage) => stage.name === 'stack')).toEqual({ name: 'stack', state: 'done', beganUs: 1_012_000, endedUs: 5_000_000 });
    expect(view.stages.find((stage) => stage.name === 'storm')?.state).toBe('running');
  });

  it('never changes a state it has given out', () => {
    expect(EMPTY_VIEW.notes).toEqual([]);
    expect(EMPTY_VIEW.stages.every((stage) => stage.state === 'waiting')).toBe(true);
  });
});

describe('frame', () => {
  it('shows stages, counts, stores, faults and notes', () => {
    expect(textOf(frameOf(view, 'seckill-lab run hot-sku', size))).toMatchSnapshot();
  });

  it('is always lower than the terminal and never wider', () => {
    const event: fc.Arbitrary<LabEvent> = fc.oneof(
      fc.record({ kind: fc.constant('note' as const), text: fc.string({ unit: 'grapheme' }), atUs: fc.nat() }),
      fc.record({ kind: fc.constant('fault' as const), id: fc.string(), state: fc.constantFrom('armed' as const, 'healed' as const), text: fc.string(), atUs: fc.nat() }),
      fc.constant<LabEvent>({ kind: 'progress', progress: PROGRESS, atUs: 1 }),
      fc.constant<LabEvent>({ kind: 'verdict', verdict: SAMPLE_VERDICT, atUs: 1 }),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 120 }), (events, rows, columns) => {
        const lines = frameOf(events.reduce(foldEvent, EMPTY_VIEW), 'title', { rows, columns });
        expect(lines.length).toBeLessThanOrEqual(Math.max(1, rows - 1));
        for (const line of lines) {
          expect(Array.from(line.text).length).toBeLessThanOrEqual(columns);
          expect(line.text).not.toContain('\n');
        }
      }),
    );
  });

  it('says when faults do not fit', () => {
    const many = Array.from({ length: 20 }, (_, index): LabEvent => ({ kind: 'fault', id: `f#${String(index)}`, state: 'armed', text: '', atUs: 1 }));
    const text = textOf(frameOf(many.reduce(foldEvent, EMPTY_VIEW), 't', { columns: 80, rows: 9 }));
    expect(text).toContain('… and 16 more');
    expect(text).toContain('f#19');
  });

  it('keeps the verdict even in a tiny terminal', () => {
    const lines = frameOf(foldEvent(view, { kind: 'verdict', verdict: SAMPLE_VIOLATED, atUs: 1 }), 't', { columns: 60, rows: 3 });
    expect(lines.at(-1)).toEqual({ tone: 'bad', text: 'VIOLATED: no-oversell is violated: 2 of 1,000.' });
  });

  it('draws bars and clips', () => {
    expect(barOf(1, 2)).toBe('████████████────────────');
    expect(barOf(3, 2)).toBe('█'.repeat(24));
    expect(barOf(1, 0)).toBe('─'.repeat(24));
    expect(clip('abc\ndef', 5)).toBe('abc …');
  });
});

describe('ink view', () => {
  it('draws the frame and nothing else', () => {
    const { lastFrame, unmount } = render(<RunView view={view} title="seckill-lab run hot-sku" size={{ columns: 90, rows: 12 }} />);
    // eslint-disable-next-line no-control-regex -- colours of the terminal
    const drawn = (lastFrame() ?? '').replace(/\u001b\[[0-9;]*m/g, '');
    unmount();
    expect(drawn).toBe(textOf(frameOf(view, 'seckill-lab run hot-sku', { columns: 90, rows: 12 })));
  });
});

describe('plain progress', () => {
  it('tells stages, faults and exits at once and leaves the expected out', () => {
    const linesOf = plainLines();
    expect(STORY.flatMap(linesOf).join('\n')).toMatchSnapshot();
  });

  it('tells progress at most once a second', () => {
    const linesOf = plainLines();
    const told = Array.from({ length: 100 }, (_, index) => linesOf({ kind: 'progress', progress: PROGRESS, atUs: index * 100_000 }));
    expect(told.filter((lines) => lines.length > 0)).toHaveLength(10);
  });
});

describe('which face', () => {
  const terminal = { isTTY: true };
  const wishes = { json: false, plain: false };

  it('is ink on a terminal', () => {
    expect(faceNameFor(wishes, { terminal, environment: { TERM: 'xterm' } })).toBe('ink');
    expect(faceNameFor(wishes, { terminal, environment: { CI: 'false' } })).toBe('ink');
  });

  it.each([
    ['a pipe', wishes, { terminal: {}, environment: {} }],
    ['--json', { ...wishes, json: true }, { terminal, environment: {} }],
    ['--plain', { ...wishes, plain: true }, { terminal, environment: {} }],
    ['CI', wishes, { terminal, environment: { CI: 'true' } }],
    ['a dumb terminal', wishes, { terminal, environment: { TERM: 'dumb' } }],
  ])('is plain with %s', (_, given, surroundings) => {
    expect(faceNameFor(given, surroundings)).toBe('plain');
  });
});

describe('final report', () => {
  it('of a green run', () => {
    expect(finalReport(SAMPLE_VERDICT)).toMatchSnapshot();
  });

  it('of a violated run, with its notes', () => {
    const text = finalReport(SAMPLE_VIOLATED, ['facts/postgres-orders.ndjson was changed after the run']);
    expect(text).toMatchSnapshot();
    expect(text).not.toContain('p99.9');
  });

  it.each(['violated', 'unknown', 'void'] as const)('tells what was promised and not what was measured of a run that is %s', (outcome) => {
    const text = finalReport({ ...SAMPLE_VERDICT, outcome });
    expect(text).toContain('–, promised ≤ 500.0 ms');
    expect(text).toContain('–, promised ≥ 99.00 %');
    expect(text).not.toMatch(/12\.3 ms|99\.95 %|870 µs|45\.6 ms|1\.23 s|850\.0 ms/);
  });
});
