/**
 * The lab's own entry of a role process: the system's role as it is, with the lab's step observer, a clock that may be skewed, and, where
 * asked, one deliberately wrong part. Started by the role supervisor; see `roles/role-wire.ts` for what is said. With `SECKILL_ROLE_HOST=1` it carries
 * several roles, of one namespace after another (`roles/host-wire.ts`).
 */
import type { RoleConfig } from '../domain/role-config.js';
import { composeRole } from '../system/compose.js';
import type { RunningRole } from '../system/role.js';
import { findMutant } from '../mutants/registry.js';
import { ROLE_HOST_VARIABLE } from './roles/host-wire.js';
import { runRoleHost, type HostedSurroundings } from './roles/role-host-runtime.js';
import { runRoleProcess, type ComposedUnderLab } from './roles/role-runtime.js';

const compose = (config: RoleConfig, { mutant, ...surroundings }: ComposedUnderLab | HostedSurroundings): Promise<RunningRole> =>
  composeRole(config, { ...(mutant === null ? {} : findMutant(mutant).overrides(config)), ...surroundings });
const edges = {
  env: process.env,
  stdin: process.stdin,
  exit: (code: number) => {
    process.exit(code);
  },
};

if (process.env[ROLE_HOST_VARIABLE] === '1') runRoleHost(compose, edges);
else await runRoleProcess(compose, edges);
