/** Creates and starts the container of one server; what the engine refuses becomes an error that names the mend. */
import { LabError } from '../../facts/lab-error.js';
import type { ContainerDescription } from '../../facts/stack-description.js';
import type { ContainerPlan } from './container-plan.js';
import { startContainer } from './lab-container.js';
import { PART_LABEL, STACK_LABEL } from './labels.js';
import type { Labels } from './labels.js';
import type { FoundImage } from './pull-image.js';

export interface ContainerPlaces {
  readonly network: string;
  readonly labels: Labels;
  readonly images: Readonly<Record<ContainerPlan['image'], FoundImage>>;
  readonly endsWithSession: boolean;
}

/** LabError PORT_IN_USE or STACK_START_FAILED. */
export async function createContainer(plan: ContainerPlan, { network, labels, images, endsWithSession }: ContainerPlaces): Promise<ContainerDescription> {
  const image = images[plan.image];
  try {
    const started = await startContainer({
      image: image.name,
      imageId: image.id,
      name: `seckill-lab-${labels[STACK_LABEL] ?? ''}-${plan.name}`,
      alias: plan.name,
      network,
      labels: { ...labels, [PART_LABEL]: plan.name },
      command: plan.command,
      environment: plan.environment,
      ports: plan.ports,
      endsWithSession,
    });
    return { id: started.getId(), image: image.name, imageId: image.id, digest: image.digest };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    if (/port is already allocated|address already in use/i.test(why)) throw new LabError('PORT_IN_USE', `${plan.name} cannot be started: ${why}`, 'start again; other ports are chosen', { cause });
    if (/no space left on device/i.test(why)) throw new LabError('STACK_START_FAILED', `${plan.name} cannot be started: the disk of the engine is full`, '`docker system prune` makes room', { cause });
    throw new LabError('STACK_START_FAILED', `the container of ${plan.name} (${image.name}) cannot be started: ${why}`, 'npx seckill-lab doctor', { cause });
  }
}
