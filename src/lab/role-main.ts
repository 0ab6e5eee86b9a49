/**
 * The lab's own entry of a role process: the system's role as it is, with the lab's step observer, a clock that may be skewed, and, where
 * asked, one deliberately wrong part. Started by the role supervisor; see `roles/role-wire.ts` for what is said.
 */
import { composeRole } from '../system/compose.js';
import { findMutant } from '../mutants/registry.js';
import { runRoleProcess } from './roles/role-runtime.js';

await runRoleProcess(
  (config, { observer, clock, mutant }) => composeRole(config, { ...(mutant === null ? {} : findMutant(mutant).overrides(config)), observer, clock }),
  {
    env: process.env,
    stdin: process.stdin,
    exit: (code) => {
      process.exit(code);
    },
  },
);
