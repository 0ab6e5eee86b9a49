/** The jars of Apache Kafka, resolved by Maven from the tracked pom; and, made from them once, what shortens a start. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { LabError } from '../../facts/lab-error.js';
import { KAFKA_VERSION } from '../cache-folder.js';
import { packageRoot } from '../local/built-entry.js';
import { makeKafkaArchive } from '../local/kafka-archive.js';
import { prepareKafkaTemplate } from '../local/kafka-server.js';
import { kafkaClassPath, kafkaJarsFolder, MINIMAL_JAVA } from '../local/tools.js';
import type { Workshop } from '../workshop.js';
import { found, missing } from './dependency.js';
import type { Dependency } from './dependency.js';
import { findJava } from './find-java.js';
import { findOnPath } from './search-path.js';

const POM = join(packageRoot, 'kafka', 'pom.xml');

export const kafkaJars: Dependency = {
  name: 'kafka jars',
  look: (cache) => {
    const folder = kafkaJarsFolder(cache);
    return kafkaClassPath(cache) === null ? missing(`the jars of Kafka ${KAFKA_VERSION} are not in ${folder}`) : found(`Kafka ${KAFKA_VERSION} (${folder})`);
  },
  lackingPackages: (cache) => (kafkaClassPath(cache) === null && findOnPath('mvn') === null ? ['maven'] : []),
  fetch: async (workshop) => {
    if (kafkaClassPath(workshop.cache) === null) await resolveJars(workshop);
    const classPath = kafkaClassPath(workshop.cache);
    const java = findJava();
    // Without Java there is nothing to prepare yet; the first start does it.
    if (classPath === null || java === null || java.major < MINIMAL_JAVA) return;
    const tools = { java, kafkaClassPath: classPath };
    await prepareKafkaTemplate(workshop, tools);
    await makeKafkaArchive(workshop, tools);
  },
};

async function resolveJars(workshop: Workshop): Promise<void> {
  const maven = findOnPath('mvn');
  if (maven === null) throw new LabError('MISSING_DEPENDENCY', 'Maven is needed to get the Kafka jars and is not on PATH', 'npx seckill-lab install --with-deps (as root on Debian), or install Maven');
  workshop.note(`resolving the jars of Kafka ${KAFKA_VERSION} with Maven (45 jars, 43 MB)`);
  const jars = join(await workshop.scratch(), 'jars');
  const goals = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${jars}`];
  await workshop.run(maven, ['-q', '-B', '-f', POM, ...goals]);
  if (!existsSync(join(jars, `kafka_2.13-${KAFKA_VERSION}.jar`))) throw new LabError('INSTALL_FAILED', `Maven left no kafka_2.13-${KAFKA_VERSION}.jar`, `look at ${POM}`);
  await workshop.publish(jars, kafkaJarsFolder(workshop.cache));
}
