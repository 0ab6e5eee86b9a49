/** A tool that is not there is told with the command that installs it. */
import { afterEach, expect, it, vi } from 'vitest';

import { LabError } from '../facts/lab-error.js';
import { peerTool } from './peer-tools.js';

afterEach(() => {
  vi.unstubAllEnvs();
});

it.each([
  ['wrk', 'apt-get install wrk'],
  ['vegeta', 'go install github.com/tsenart/vegeta/v12@v12.12.0'],
  ['pgbench', 'pgbench of any PostgreSQL'],
  ['taskset', 'util-linux'],
] as const)('%s', (name, install) => {
  vi.stubEnv('PATH', '/nowhere');
  vi.stubEnv('GOPATH', '/nowhere');
  let told: unknown = null;
  try {
    peerTool(name);
  } catch (error) {
    told = error;
  }
  expect(told).toBeInstanceOf(LabError);
  expect(told).toMatchObject({ code: 'MISSING_DEPENDENCY' });
  expect((told as LabError).message).toContain(name);
  expect((told as LabError).nextStep).toContain(install);
});
