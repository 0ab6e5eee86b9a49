/** All mutants by name. */
import { inboxOff } from './inbox-off.js';
import type { Mutant } from './mutant.js';
import { newMessageIdOnResend } from './new-message-id-on-resend.js';
import { noUniqueKey } from './no-unique-key.js';

export const MUTANTS: readonly Mutant[] = [inboxOff, newMessageIdOnResend, noUniqueKey];

/** Throws when there is none: names from outside are checked where they come in. */
export function findMutant(name: string): Mutant {
  const found = MUTANTS.find((mutant) => mutant.name === name);
  if (found === undefined) throw new Error(`there is no mutant ${JSON.stringify(name)}`);
  return found;
}
