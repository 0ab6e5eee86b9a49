/** What the undertaker is made of. */
import type { RoleConfig } from '../../domain/role-config.js';
import { createDeadLetterStore } from '../recovery/dead-letter-store.js';
import { startUndertaker } from '../recovery/undertaker.js';
import type { RunningRole } from '../role.js';
import type { PortMaker } from './ports.js';

/** Each letter is a transaction of its own; between two offset commits there are this many. */
const LETTERS_PER_COMMIT = 50;

export function composeUndertaker(config: RoleConfig, make: PortMaker): Promise<RunningRole> {
  const { deadLettersTopic, deadLettersGroup } = config.namespace;
  const consumer = make.consumer(deadLettersTopic, deadLettersGroup, LETTERS_PER_COMMIT);
  const store = createDeadLetterStore(config, make.surroundings);
  return startUndertaker({ stock: make.stock(), consumer, store, metrics: make.metrics }, config, make.surroundings);
}
