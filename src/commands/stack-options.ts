/** `--stack`, `--image`, `--images-file`: which provider starts the servers, and from which images. Shared by `run` and `up`. */
import { LabError } from '../facts/lab-error.js';
import { readImageWishes } from '../stack/containers/image-choice.js';
import { ROLE_HOMES, type RoleHosting } from '../lab/roles/role-home.js';
import { STACK_PROVIDERS, type StackProvider, type StackRequest } from '../stack/start-stack.js';

function isProvider(text: string): text is StackProvider {
  return (STACK_PROVIDERS as readonly string[]).includes(text);
}

/** `--roles`: only a stack of containers has an engine for them. LabError USAGE. */
export function parseRoleHosting(raw: Readonly<Record<string, unknown>>, { provider, images }: StackRequest): RoleHosting {
  const asked = typeof raw['roles'] === 'string' ? raw['roles'] : 'processes';
  const home = ROLE_HOMES.find((known) => known === asked);
  if (home === undefined) throw new LabError('USAGE', `--roles ${asked}: must be ${ROLE_HOMES.join(' or ')}`, 'see `seckill-lab run --help`');
  if (home === 'containers' && provider === 'local' && typeof raw['stackFile'] !== 'string') throw new LabError('USAGE', '--roles containers needs --stack containers', 'add it, or leave the roles processes');
  return { home, images };
}

/** LabError USAGE naming what is wrong. */
export function parseStackRequest(raw: Readonly<Record<string, unknown>>): StackRequest {
  const asked = raw['stack'];
  // Roles in containers need an engine, so nothing is left to choose.
  const provider = asked === 'auto' && raw['roles'] === 'containers' ? 'containers' : typeof asked === 'string' ? asked : 'local';
  if (!isProvider(provider)) throw new LabError('USAGE', `--stack ${provider}: must be ${STACK_PROVIDERS.join(', ')}`, 'see `seckill-lab run --help`');
  const pairs = Array.isArray(raw['image']) ? (raw['image'] as readonly string[]) : [];
  const file = typeof raw['imagesFile'] === 'string' ? raw['imagesFile'] : null;
  // A file that lies about by chance is none of a local stack's business.
  return { provider, images: provider === 'local' && pairs.length === 0 && file === null ? {} : readImageWishes(pairs, file) };
}
