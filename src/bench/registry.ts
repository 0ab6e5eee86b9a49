/** The benches by name, in the order in which they run. */
import type { Bench } from './bench.js';
import { consumerBench } from './consumer.js';
import { endToEndBench } from './end-to-end.js';
import { gatewayHttpBench } from './gateway-http.js';
import { generatorHttpBench } from './generator-http.js';
import { generatorInprocBench } from './generator-inproc.js';
import { generatorPeerBench } from './generator-peer.js';
import { growthBench } from './growth.js';
import { producerBench } from './producer.js';
import { reserveBench } from './reserve-redis.js';

export const BENCHES: readonly Bench[] = [
  // Before any server runs: these pin what they measure to the two cores.
  generatorHttpBench, generatorPeerBench, generatorInprocBench,
  reserveBench('success'), reserveBench('sold-out'), gatewayHttpBench, producerBench, consumerBench, endToEndBench, growthBench,
];
