/** Where the role processes of a run live: as children of the lab, or in containers of the project's own image. */
import { LabError } from '../../facts/lab-error.js';
import type { StackDescription } from '../../facts/stack-description.js';
import type { ImageWishes } from '../../stack/containers/image-choice.js';
import { CODE_LABEL, codeDigest } from '../../stack/images/code-digest.js';
import { packageRoot } from '../package-root.js';
import type { RoleBody, RoleBodyOptions } from './role-body.js';

/** Gives a role its place; null: a process of its own, as a child of the lab. */
export type RolePlace = ((options: RoleBodyOptions) => RoleBody) | null;

export const ROLE_HOMES = ['processes', 'containers'] as const;

export interface RoleHosting {
  readonly home: (typeof ROLE_HOMES)[number];
  readonly images: ImageWishes;
}

/** LabError MISSING_DEPENDENCY when there is no image of the roles, USAGE on a stack without an engine. */
export async function chooseRoleHome(hosting: RoleHosting | undefined, stack: StackDescription, note: (text: string) => void): Promise<RolePlace> {
  if (hosting === undefined || hosting.home === 'processes') return null;
  if (stack.provider !== 'containers') throw new LabError('USAGE', `--roles containers on a stack of provider ${stack.provider}`, 'use it with `--stack containers`');
  const [{ preflight }, { RoleContainer }, { ownerMark, stackLabels }] = await Promise.all([
    import('../../stack/containers/preflight.js'), import('./role-container.js'), import('../../stack/containers/labels.js'),
  ]);
  const { engine, images } = await preflight(['roles'] as const, hosting.images, note);
  const built = images.roles.labels[CODE_LABEL];
  // A role of other code would be judged as if it were this lab's.
  if (built !== codeDigest(packageRoot())) {
    throw new LabError('MISSING_DEPENDENCY', `the image ${images.roles.name} holds ${built === undefined ? 'unknown' : 'other'} code than this lab`, 'npx seckill-lab images build --roles');
  }
  note(`roles run in containers of ${images.roles.name}`);
  const image = { docker: engine.docker, image: images.roles.name, labels: stackLabels(stack.id, ownerMark(stack.reaperPid ?? process.pid)) };
  return (options) => new RoleContainer(image, options);
}
