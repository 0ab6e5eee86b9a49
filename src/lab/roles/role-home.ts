/** Where the role processes of a run live: as children of the lab, or in containers of the project's own image. */
import type { RoleInstance } from '../../domain/roles.js';
import { LabError } from '../../facts/lab-error.js';
import type { ManifestRoles } from '../../facts/run-store.js';
import type { Engine } from '../../stack/containers/engine.js';
import type { ImageWishes } from '../../stack/containers/image-choice.js';
import type { FoundImage } from '../../stack/containers/pull-image.js';
import { CODE_LABEL, codeDigest } from '../../stack/images/code-digest.js';
import type { StackProvider } from '../../stack/start-stack.js';
import type { StackSource, UsableStack } from '../bring-up-stack.js';
import { packageRoot } from '../package-root.js';
import type { RoleBody, RoleBodyOptions } from './role-body.js';

/** Gives a role its place; null: a process of its own, as a child of the lab. */
export type RolePlace = ((options: RoleBodyOptions) => RoleBody) | null;

export const ROLE_HOMES = ['processes', 'containers'] as const;

export interface RoleHosting {
  readonly home: (typeof ROLE_HOMES)[number];
  readonly images: ImageWishes;
}

/** All that can be said before a stack runs. */
export interface RoleHome {
  readonly shown: ManifestRoles;
  placeOn(stack: Pick<UsableStack, 'description' | 'registerPid'>): RolePlace;
}

const AS_PROCESSES: RoleHome = { shown: { home: 'processes' }, placeOn: () => null };

/**
 * Before anything starts. Pulls an image that was wished for and is not there.
 * LabError MISSING_DEPENDENCY when there is no image of the roles, or one of other code, or no engine that can run them; USAGE on a stack without an engine.
 */
export async function prepareRoleHome(hosting: RoleHosting | undefined, source: StackSource, note: (text: string) => void, signal?: AbortSignal): Promise<RoleHome> {
  if (hosting === undefined || hosting.home === 'processes') return AS_PROCESSES;
  const provider = providerOf(source);
  if (provider !== 'containers') throw new LabError('USAGE', `--roles containers on a stack of provider ${provider}`, 'use it with `--stack containers`');
  const [{ preflight }, { RoleContainer }, { ownerMark, stackLabels }] = await Promise.all([
    import('../../stack/containers/preflight.js'), import('./role-container.js'), import('../../stack/containers/labels.js'),
  ]);
  const { engine, images } = await preflight(['roles'] as const, hosting.images, note, signal);
  refuseEngine(engine);
  refuseOtherCode(images.roles);
  const { name, id, digest } = images.roles;
  note(`roles run in containers of ${name}`);
  return {
    shown: { home: 'containers', image: name, imageId: id, digest },
    placeOn: (stack) => {
      const { id: stackId, reaperPid } = stack.description;
      const registerPid = (pid: number, instance: RoleInstance): void => {
        stack.registerPid(pid, instance);
      };
      const image = { docker: engine.docker, image: id, labels: stackLabels(stackId, ownerMark(reaperPid ?? process.pid)), registerPid };
      return (options) => new RoleContainer(image, options);
    },
  };
}

function providerOf(source: StackSource): StackProvider | 'external' {
  switch (source.kind) {
    case 'start':
      return source.request.provider;
    case 'described':
      return source.description.provider;
    case 'lent':
      return source.handle.description.provider;
  }
}

/** They share network and process ids with the engine, and have to share them with the lab. */
function refuseEngine({ isRootless, isThisMachine }: Pick<Engine, 'isRootless' | 'isThisMachine'>): void {
  if (isThisMachine && !isRootless) return;
  const why = isRootless ? 'a rootless engine has a network of its own, in which they would not find their servers' : 'the engine runs on a machine of its own, such as a virtual one, and its processes are not this machine’s';
  throw new LabError('MISSING_DEPENDENCY', `roles cannot run in containers here: ${why}`, 'leave out `--roles containers`, or use an engine that runs as root on this very machine');
}

/** A role of other code would be judged as if it were this lab's. */
function refuseOtherCode({ name, labels }: FoundImage): void {
  const built = labels[CODE_LABEL];
  if (built === codeDigest(packageRoot())) return;
  throw new LabError('MISSING_DEPENDENCY', `the image ${name} holds ${built === undefined ? 'unknown' : 'other'} code than this lab`, 'npx seckill-lab images build --roles');
}
