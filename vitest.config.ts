// Projects, one after the other (`groupOrder`), since they share two cores: `unit` beside the files, `int` against one set of real servers per run,
// `e2e` that spawn the command line, `pressure` for the long scenarios.
import { defineConfig } from 'vitest/config';

/** Tests of an order's life after it was made, of repairs, of the funnel and of what an operator sees. CI runs them beside `npm test`, which has to stay under a quarter of an hour. */
const LIFE = [
  'src/lab/store-fault-proofs.int.test.ts',
  'src/system/payment/**/*.int.test.ts',
  'src/system/recovery/{compensation,dead-letters,rebuild,reconciliation,retention}.int.test.ts',
  'src/system/gateway/funnel/**/*.int.test.ts',
  'src/lab/truncated-log.int.test.ts',
  'src/commands/{dlq,manual,reconcile}.int.test.ts',
  'test/{observability,scanner-stopped}.int.test.ts',
];

/** Tests that break the system on purpose, again and again on one warm stack. CI runs them beside `npm test`, for the same reason. */
const BREAKAGE = ['test/sweep.e2e.test.ts', 'test/mutants.e2e.test.ts'];

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          sequence: { groupOrder: 0 },
          include: ['src/**/*.test.{ts,tsx}', 'test/**/*.test.ts'],
          exclude: ['**/*.int.test.ts', '**/*.e2e.test.ts', '**/*.containers.test.ts', '**/node_modules/**'],
          // Property tests of thousands of lives take seconds on two busy cores; a bound is there for what hangs.
          testTimeout: 60_000,
          // The same for a wait: a process that is waited for may take seconds to begin there.
          expect: { poll: { timeout: 20_000 } },
        },
      },
      {
        test: {
          name: 'int',
          sequence: { groupOrder: 1 },
          include: ['src/**/*.int.test.ts', 'test/**/*.int.test.ts'],
          exclude: [...LIFE, '**/node_modules/**'],
          globalSetup: ['test/support/start-stack.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'life',
          sequence: { groupOrder: 1 },
          include: LIFE,
          globalSetup: ['test/support/start-stack.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'e2e',
          sequence: { groupOrder: 2 },
          include: ['test/**/*.e2e.test.ts'],
          exclude: ['test/pressure.e2e.test.ts', 'test/shrink.e2e.test.ts', ...BREAKAGE, '**/node_modules/**'],
          testTimeout: 240_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'breakage',
          sequence: { groupOrder: 2 },
          include: BREAKAGE,
          testTimeout: 300_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        // Needs a Docker engine with the images; minutes of real time. `.ci/containers` starts an engine of its own for it.
        test: {
          name: 'containers',
          sequence: { groupOrder: 4 },
          include: ['test/containers/**/*.containers.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        // The scenarios of a system under pressure, and the shrinking of planted mutants: minutes of real time each, so not part of `npm test`.
        test: {
          name: 'pressure',
          sequence: { groupOrder: 3 },
          include: ['test/pressure.e2e.test.ts', 'test/shrink.e2e.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
