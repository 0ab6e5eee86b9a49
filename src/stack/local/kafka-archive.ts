/**
 * A class data archive of the broker: it starts once, is told to end, and its Java writes down the classes it had loaded. A start then
 * takes 0.95 s instead of 1.6 s. Made by `install` only: a start works without it.
 */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Workshop } from '../workshop.js';
import { copyKafkaTemplate, kafkaArchive, kafkaProperties, KAFKA_READY, writeKafkaLaunch } from './kafka-server.js';
import { takePortBlock } from './port-block.js';
import type { KafkaTools } from './tools.js';

const SCRIPT = `"$@" >server.log 2>&1 &
broker=$!
while ! grep -q '${KAFKA_READY}' server.log; do
  kill -0 $broker || { cat server.log; exit 1; }
  sleep 0.1
done
kill $broker
wait $broker
test -s archive || { cat server.log; exit 1; }
`;

export async function makeKafkaArchive(workshop: Workshop, tools: KafkaTools): Promise<void> {
  const archive = kafkaArchive(workshop.cache, tools.java.version);
  if (existsSync(archive)) return;
  const block = await takePortBlock(2, null);
  const [direct, controller] = block?.ports ?? [];
  if (block === null || direct === undefined || controller === undefined) return; // no ports now: a later install makes it
  workshop.note('recording the classes of Kafka, for faster starts');
  try {
    const folder = await workshop.scratch();
    const data = join(folder, 'data');
    await mkdir(data);
    await copyKafkaTemplate(workshop, data);
    await mkdir(join(folder, 'run'));
    const launch = await writeKafkaLaunch(join(folder, 'run'), tools, kafkaProperties([{ name: 'DIRECT', port: direct, advertised: direct }], controller, data), ['-XX:ArchiveClassesAtExit=archive']);
    const script = join(folder, 'record.sh');
    await writeFile(script, SCRIPT);
    await workshop.run('/bin/sh', [script, launch.command, ...launch.args], { workingFolder: launch.workingFolder });
    await workshop.publish(join(folder, 'run', 'archive'), archive);
  } finally {
    await new Promise((resolve) => block.sentinel.close(resolve));
  }
}
