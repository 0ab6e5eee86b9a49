// The law of the admission limit on a clock made by hand, and the age of a backlog from watermarks.
import { describe, expect, test } from 'vitest';

import { DEFAULT_FUNNEL, type AdmissionTuning } from '../../../domain/funnel.js';
import { AdmissionControl } from './admission-control.js';
import { BacklogClock } from './backlog-clock.js';
import type { DownstreamReading } from './downstream-gauge.js';

const TUNING: AdmissionTuning = {
  ...DEFAULT_FUNNEL.admission, periodMs: 100, stockMargin: 10, maxWaitMs: 3_000, consumerRatePerSecond: 100, downstreamCapacity: 1_000, narrowFromAgeMs: 1_000, closeAtAgeMs: 2_000, share: 1,
};
const IDLE: DownstreamReading = { stockLeft: 10_000, underway: 0, lag: 0, consumed: 0, oldestAgeMs: 0 };

function world(tuning: Partial<AdmissionTuning> = {}) {
  let nowMs = 0;
  const control = new AdmissionControl({ ...TUNING, ...tuning }, () => nowMs);
  return {
    control,
    /** One control period later. */
    reading(change: Partial<DownstreamReading> | null): void {
      nowMs += 100;
      control.asking();
      control.observe(change === null ? null : { ...IDLE, ...change });
    },
    wait(ms: number): void {
      nowMs += ms;
    },
    passing(): number {
      let passed = 0;
      while (passed < 100_000 && control.take()) passed += 1;
      return passed;
    },
  };
}

describe('admission control', () => {
  test('nothing passes before the first reading', () => {
    expect(world().passing()).toBe(0);
  });

  test.each<[string, Partial<DownstreamReading>, Partial<AdmissionTuning>, number]>([
    ['stock left and margin', { stockLeft: 40 }, {}, 50],
    ['sold out: the margin', { stockLeft: 0 }, {}, 10],
    ['rate × longest wait', {}, {}, 300],
    ['less what is under way', { underway: 120 }, {}, 180],
    ['capacity', { underway: 50 }, { downstreamCapacity: 70 }, 20],
    ['its share of several gateways', {}, { share: 0.5 }, 150],
    ['age up to where it narrows', { oldestAgeMs: 1_000 }, {}, 300],
    ['half narrowed', { oldestAgeMs: 1_500 }, {}, 150],
    ['age of closing', { oldestAgeMs: 2_000 }, {}, 0],
    ['as much under way as can be', { underway: 300 }, {}, 0],
  ])('the least of all decides: %s', (_name, reading, tuning, expected) => {
    const { reading: observe, passing } = world(tuning);
    observe(reading);
    expect(passing()).toBe(expected);
  });

  test('age and not count closes it: ten messages that are old', () => {
    const { reading, passing, control } = world();
    reading({ underway: 10, lag: 10, oldestAgeMs: 2_100 });
    expect([passing(), control.state]).toEqual([0, 'closed']);
  });

  test('who passed while a reading was on its way counts against the next budget', () => {
    const { control, passing } = world();
    control.asking();
    control.observe({ ...IDLE, stockLeft: 0 });
    control.asking();
    expect(control.take()).toBe(true);
    control.observe({ ...IDLE, stockLeft: 0 });
    expect(passing()).toBe(9);
  });

  test('without readings it closes when a message may have passed the age', () => {
    const { reading, passing, wait, control } = world();
    reading({ oldestAgeMs: 500 });
    wait(1_499);
    expect(control.take()).toBe(true);
    wait(1);
    expect(control.take()).toBe(false);
    reading(null);
    expect([passing(), control.state]).toEqual([0, 'closed']);
  });

  test('a rate is measured only while messages wait: an idle consumer is not a slow one', () => {
    const idle = world();
    for (let round = 0; round < 20; round += 1) idle.reading({ consumed: round, lag: 3, oldestAgeMs: 50 });
    expect(idle.control.ratePerSecond).toBe(100);
    const slow = world();
    for (let round = 0; round < 20; round += 1) slow.reading({ consumed: round * 2, lag: 50, oldestAgeMs: 700 });
    expect(slow.control.ratePerSecond).toBeCloseTo(20);
    expect(slow.passing()).toBe(60);
    const fast = world();
    for (let round = 0; round < 20; round += 1) fast.reading({ consumed: round * 50, lag: 50, oldestAgeMs: 0 });
    expect(fast.control.ratePerSecond).toBeCloseTo(500);
  });

  test('reopens in doubling batches', () => {
    const { reading, passing, control } = world();
    reading({ oldestAgeMs: 3_000 });
    const batches: number[] = [];
    for (let round = 0; round < 7; round += 1) {
      reading({});
      batches.push(passing());
    }
    expect(batches).toEqual([10, 20, 40, 80, 160, 300, 300]);
    expect(control.state).toBe('open');
  });

  test('a stopped consumer that starts again is not shut out for ever', () => {
    const { reading, passing } = world();
    for (let round = 0; round < 30; round += 1) reading({ lag: 10, underway: 10, oldestAgeMs: 100 * round });
    expect(passing()).toBe(0);
    for (let round = 0; round < 30; round += 1) reading({ consumed: 10 });
    expect(passing()).toBe(300);
  });
});

describe('backlog clock', () => {
  const at = (...offsets: number[]) => new Map(offsets.map((offset, partition) => [partition, offset]));

  test('the age is at least the true one and at most a reading more', () => {
    const clock = new BacklogClock();
    clock.note(0, at(5));
    expect(clock.ageMs(0, at(5))).toBe(0);
    // A message comes at 130 and is seen at 200.
    clock.note(100, at(5));
    clock.note(200, at(6));
    expect(clock.ageMs(200, at(5))).toBe(100);
    clock.note(300, at(6));
    expect(clock.ageMs(300, at(5))).toBe(200);
    expect(clock.ageMs(300, at(6))).toBe(0);
  });

  test('the oldest of all partitions counts, and progress makes it younger', () => {
    const clock = new BacklogClock();
    clock.note(0, at(0, 0));
    clock.note(100, at(10, 0));
    clock.note(200, at(20, 1));
    clock.note(300, at(30, 1));
    expect(clock.ageMs(300, at(0, 0))).toBe(300);
    expect(clock.ageMs(300, at(10, 0))).toBe(200);
    // Partition 1 alone holds it back.
    expect(clock.ageMs(300, at(25, 0))).toBe(200);
    expect(clock.ageMs(300, at(25, 1))).toBe(100);
    expect(clock.ageMs(300, at(30, 1))).toBe(0);
  });

  test('what was there before the first note is as old as the note says', () => {
    const clock = new BacklogClock();
    clock.note(-2_000, at(7));
    clock.note(0, at(9));
    expect(clock.ageMs(0, at(3))).toBe(2_000);
  });
});
