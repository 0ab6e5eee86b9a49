/** Registry: everything a local stack needs, in the order in which it is got. */
import { cache } from './cache.js';
import type { Dependency } from './dependency.js';
import { java } from './java.js';
import { kafkaJars } from './kafka-jars.js';
import { node } from './node.js';
import { ports } from './ports.js';
import { postgres } from './postgres.js';
import { redisServer } from './redis-server.js';
import { toxiproxy } from './toxiproxy.js';

export const ALL_DEPENDENCIES: readonly Dependency[] = [node, cache, ports, redisServer, postgres, java, toxiproxy, kafkaJars];
