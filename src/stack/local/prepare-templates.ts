/** Everything in the cache that a start needs and that no download is needed for. The first start makes it, later ones find it. */
import { existsSync } from 'node:fs';

import { withCacheLock } from '../cache-lock.js';
import type { Workshop } from '../workshop.js';
import { kafkaTemplate, prepareKafkaTemplate } from './kafka-server.js';
import { postgresHome, postgresTemplate, postgresUser, preparePostgresHome, preparePostgresTemplate } from './postgres-home.js';
import type { UnprivilegedUser } from './postgres-home.js';
import type { Tools } from './tools.js';

export interface Templates {
  readonly postgresHome: string;
  readonly postgresTemplate: string;
  readonly postgresUser: UnprivilegedUser | null;
}

/** Under the lock only when something is missing, so that warm starts never wait for each other. */
export async function prepareTemplates(workshop: Workshop, tools: Tools): Promise<Templates> {
  const { version } = tools.postgresPackage;
  const user = postgresUser();
  const templates = { postgresHome: postgresHome(workshop.cache, version), postgresTemplate: postgresTemplate(workshop.cache, version, user), postgresUser: user };
  const needed = [templates.postgresHome, templates.postgresTemplate, kafkaTemplate(workshop.cache)];
  if (needed.every((path) => existsSync(path))) return templates;
  const onWait = (): void => {
    workshop.note('waiting for another seckill-lab that is preparing the cache');
  };
  await withCacheLock(workshop.cache, onWait, async () => {
    const postgres = preparePostgresHome(workshop, tools.postgresPackage).then((home) => preparePostgresTemplate(workshop, home, version, user));
    await Promise.all([postgres, prepareKafkaTemplate(workshop, tools)]);
  });
  return templates;
}
