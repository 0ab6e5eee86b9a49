// A saved plan becomes the plan of a run again, whichever kind of run it was.
import { expect, it } from 'vitest';

import { newMessageIdOnResend } from '../../mutants/new-message-id-on-resend.js';
import { gatewayDies } from '../../mutants/plans/cuts.js';
import { experimentPlanOf, planRun } from '../run-plan.js';
import { runPlanOf } from './run-failures.js';

it('a small run in which a mutant shows can be shrunk as a scenario can', () => {
  const written = experimentPlanOf(planRun(gatewayDies, { seed: 3 }, newMessageIdOnResend.name), { seed: 3 });
  const again = runPlanOf(written);
  expect(again).toMatchObject({ scenario: { name: 'gateway-dies' }, seed: 3, mutant: 'new-message-id-on-resend', faults: gatewayDies.faults });
  // How many processes there are is said, so that there can be fewer.
  expect(written.options).toMatchObject({ gateways: 2, consumers: 1 });
  expect(runPlanOf({ ...written, options: { ...written.options, gateways: 1 } }).instances.filter((instance) => instance.startsWith('gateway'))).toEqual(['gateway-1']);
});

it('a plan of another version of the lab is refused', () => {
  expect(() => runPlanOf({ schemaVersion: 1, scenario: 'hot-potato' })).toThrow('no scenario "hot-potato"');
});
