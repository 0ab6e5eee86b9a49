/**
 * double-compensation: a release gives its unit back as often as it comes (papers `000` §9.4, `001` §8.2; CASES C30). Brokers deliver twice, and operators run
 * repairs twice.
 */
import type { Mutant } from './mutant.js';
import { repeatedReleases } from './plans/lives.js';
import { wrongScript } from './wrong-source.js';

export const doubleCompensation: Mutant = {
  name: 'double-compensation',
  description: 'Every delivery of a release gives the unit back once more.',
  warnedBy: '000 §9.4 and 001 §8.2',
  caughtBy: 'redis-conservation',
  showsUnder: repeatedReleases,
  sql: [],
  overrides: (config) => (config.role === 'projector' || config.role === 'compensator' ? { scripts: { apply_projection: wrongScript('return_every_time') } } : {}),
};
