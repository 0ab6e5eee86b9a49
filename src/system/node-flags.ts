/** Flags that Node is to be started with for a role. */
import type { RoleName } from '../domain/roles.js';

/**
 * A large young generation from the first moment on. In the first half second of a sale whatever a gateway makes is still waited for, so each collection copies nearly all it
 * finds; with V8's small beginning (1 MB, growing) that took a third of the gateway's time just when everything was sold (docs/decisions/0025).
 */
const GATEWAY: readonly string[] = ['--min-semi-space-size=64', '--max-semi-space-size=64', '--initial-old-space-size=256'];

export function nodeFlagsOf(role: RoleName): readonly string[] {
  return role === 'gateway' ? GATEWAY : [];
}
