/** Apache Kafka in KRaft mode: one node, one listener per (lane, role), each advertised as that role's proxy. */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { linkName } from '../../domain/roles.js';
import { LabError } from '../../facts/lab-error.js';
import { kafkaListenerName } from '../../facts/stack-description.js';
import { KAFKA_VERSION } from '../cache-folder.js';
import { plainEnvironment } from '../workshop.js';
import type { Workshop } from '../workshop.js';
import type { PortPlan } from './port-plan.js';
import type { ServerLaunch } from './server-launch.js';
import type { KafkaTools } from './tools.js';

/** What the broker prints when it takes requests. */
export const KAFKA_READY = 'Kafka Server started';
export const CLUSTER_ID = 'c2Vja2lsbC1sYWItMDAwMQ';

/** Small heap, the cheapest collector and compiler: a broker for one test, not for a month. Perf data would be left in /tmp by a kill. */
export const KAFKA_HEAP = ['-Xms128m', '-Xmx512m', '-Xss512k'];
export const KAFKA_PERFORMANCE = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Djava.awt.headless=true'];
const JVM_FLAGS = [...KAFKA_HEAP, ...KAFKA_PERFORMANCE, '-XX:-UsePerfData'];

/** Also of the stand-in image. */
export const KAFKA_LOGGING = `status = error
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{yyyy-MM-dd'T'HH:mm:ss.SSS} %p %c{1} %m%n
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
logger.server.name = kafka.server.KafkaRaftServer
logger.server.level = info
`;

/** Holds the topics of a run many times over. */
const SMALL_DISK_MEGABYTES = 64;

/** Listeners of a stack: name, own port, advertised port. */
interface Listener {
  readonly name: string;
  readonly port: number;
  readonly advertised: number;
}

export function kafkaListeners(ports: PortPlan): Listener[] {
  return [
    { name: 'DIRECT', port: ports.kafkaDirect, advertised: ports.kafkaDirect },
    ...ports.lanes.flatMap((lane, index) =>
      [...lane.kafkaListeners].map(([role, port]) => ({ name: kafkaListenerName(index, role), port, advertised: lane.proxies[linkName(role, 'kafka')] })),
    ),
  ];
}

export interface KafkaPlaces {
  readonly listeners: readonly Listener[];
  readonly controllerPort: number;
  /** Address on which the listeners take connections; empty: on all. */
  readonly listenHost: string;
  readonly dataFolder: string;
}

/** The broker's settings by name. The topics a broker makes for itself get few partitions: each costs start-up time and file handles. */
export function kafkaSettings({ listeners, controllerPort, listenHost, dataFolder }: KafkaPlaces): Readonly<Record<string, string>> {
  const names = [...listeners.map((listener) => listener.name), 'CONTROLLER'];
  const own = [...listeners.map(({ name, port }) => `${name}://${listenHost}:${String(port)}`), `CONTROLLER://127.0.0.1:${String(controllerPort)}`];
  return {
    'process.roles': 'broker,controller',
    'node.id': '1',
    'controller.quorum.voters': `1@127.0.0.1:${String(controllerPort)}`,
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'DIRECT',
    listeners: own.join(','),
    'advertised.listeners': listeners.map(({ name, advertised }) => `${name}://127.0.0.1:${String(advertised)}`).join(','),
    'listener.security.protocol.map': names.map((name) => `${name}:PLAINTEXT`).join(','),
    'log.dirs': dataFolder,
    // A broker that was killed is let in again only when its former session has run out; the default of 9 s makes a restart take 13 s.
    'broker.session.timeout.ms': '3000',
    'broker.heartbeat.interval.ms': '500',
    // Per listener, and there are many.
    'num.network.threads': '1',
    'num.io.threads': '4',
    'auto.create.topics.enable': 'false',
    'log.message.timestamp.type': 'LogAppendTime',
    'log.index.size.max.bytes': '1048576',
    // The default takes 128 MB of the heap.
    'log.cleaner.dedupe.buffer.size': '4194304',
    'log.cleaner.threads': '1',
    'offsets.topic.replication.factor': '1',
    'offsets.topic.num.partitions': '4',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'transaction.state.log.num.partitions': '1',
    'share.coordinator.state.topic.replication.factor': '1',
    'share.coordinator.state.topic.min.isr': '1',
    'share.coordinator.state.topic.num.partitions': '1',
    'group.initial.rebalance.delay.ms': '0',
    'group.min.session.timeout.ms': '500',
  };
}

/** `server.properties` of a broker on this host's loopback. */
export function kafkaProperties(listeners: readonly Listener[], controllerPort: number, dataFolder: string): string {
  const settings = kafkaSettings({ listeners, controllerPort, listenHost: '127.0.0.1', dataFolder });
  return `${Object.entries(settings).map(([name, value]) => `${name}=${value}`).join('\n')}\n`;
}

export function kafkaTemplate(cache: string): string {
  return join(cache, `kafka-${KAFKA_VERSION}-formatted`);
}

/** Class data archive for this Java: an archive of another one is refused by the machine. */
export function kafkaArchive(cache: string, javaVersion: string): string {
  return join(cache, `kafka-${KAFKA_VERSION}-java-${javaVersion}.jsa`);
}

/** Formats an empty log folder once (0.9 s); every stack copies it. */
export async function prepareKafkaTemplate(workshop: Workshop, tools: KafkaTools): Promise<string> {
  const template = kafkaTemplate(workshop.cache);
  if (existsSync(template)) return template;
  workshop.note('formatting a Kafka log folder to copy from');
  const scratch = await workshop.scratch();
  const data = join(scratch, 'data');
  const properties = join(scratch, 'server.properties');
  await writeFile(properties, kafkaProperties([{ name: 'DIRECT', port: 1, advertised: 1 }], 2, data));
  await workshop.run(tools.java.path, [...JVM_FLAGS, '-cp', tools.kafkaClassPath, 'kafka.tools.StorageTool', 'format', '-t', CLUSTER_ID, '-c', properties]);
  await workshop.publish(data, template);
  return template;
}

/**
 * Into a folder that is there. By a command of the reaper's: `fs.cp` makes a parent folder that is missing, and so brought the stack's folder back when the reaper
 * had just removed it (Ctrl-C while the stack starts).
 */
export async function copyKafkaTemplate(workshop: Workshop, data: string): Promise<void> {
  await workshop.run('cp', ['-R', `${kafkaTemplate(workshop.cache)}/.`, data]);
}

/** Makes the folder, the configuration and the data. */
export async function planKafka(workshop: Workshop, directory: string, tools: KafkaTools, ports: PortPlan, smallDisk: boolean): Promise<ServerLaunch> {
  const { cache } = workshop;
  const folder = join(directory, 'kafka');
  const data = join(folder, 'data');
  await mkdir(folder);
  await mkdir(data);
  if (smallDisk) await mountSmallDisk(workshop, data);
  await copyKafkaTemplate(workshop, data);
  return writeKafkaLaunch(folder, tools, kafkaProperties(kafkaListeners(ports), ports.kafkaController, data), archiveFlags(cache, tools));
}

/** The reaper unmounts whatever lies below the stack's folder before it removes it. */
async function mountSmallDisk(workshop: Workshop, data: string): Promise<void> {
  try {
    await workshop.run('mount', ['-t', 'tmpfs', '-o', `size=${String(SMALL_DISK_MEGABYTES)}m,mode=700`, 'seckill-lab', data]);
  } catch (cause) {
    throw new LabError('STACK_START_FAILED', 'Kafka was asked to start on a small disk of its own, and none can be mounted here', 'run as root on Linux, or leave out the fault that fills it', { cause });
  }
}

function archiveFlags(cache: string, tools: KafkaTools): string[] {
  const archive = kafkaArchive(cache, tools.java.version);
  return existsSync(archive) ? [`-XX:SharedArchiveFile=${archive}`, '-Xshare:auto', '-Xlog:cds=off', '-Xlog:class+path=off'] : [];
}

/** Writes the configuration files into the folder and says how to start the broker on them. */
export async function writeKafkaLaunch(folder: string, tools: KafkaTools, properties: string, extraFlags: readonly string[]): Promise<ServerLaunch> {
  const configuration = join(folder, 'server.properties');
  const logging = join(folder, 'log4j2.properties');
  await writeFile(configuration, properties);
  await writeFile(logging, KAFKA_LOGGING);
  return {
    name: 'kafka',
    command: tools.java.path,
    args: [...JVM_FLAGS, ...extraFlags, `-Dlog4j2.configurationFile=${logging}`, `-Djava.io.tmpdir=${folder}`, '-cp', tools.kafkaClassPath, 'kafka.Kafka', configuration],
    workingFolder: folder,
    env: plainEnvironment(),
    user: null,
    logFile: join(folder, 'server.log'),
    postgresData: null,
  };
}
