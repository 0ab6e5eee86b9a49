/** Targets made of plain values, for unit tests of faults: a test says what moves, and looks at what was done. */
import type { LinkName, RoleInstance, RoleName } from '../domain/roles.js';
import type { StepName } from '../domain/steps.js';
import type { ServerName } from '../facts/stack-description.js';
import type { RoleClock, RoleExit, RoleTarget, ServerTarget, StepHit, Targets } from '../facts/targets.js';
import { FakeLink, probeOf } from './fake-link.test-support.js';
import { FakeDatabase, FakeDisk, FakeRedisMemory } from './fake-stores.test-support.js';
import type { FaultClock } from './fault.js';
import { SERVER_OF } from './option-values.js';

/** Time that passes only when somebody waits; a wait still gives way to other work. */
export function fakeClock(): FaultClock & { readonly nowUs: number } {
  const state = { nowUs: 1_000_000 };
  return {
    get nowUs() {
      return state.nowUs;
    },
    monoUs: () => state.nowUs,
    wallMs: () => Math.floor(state.nowUs / 1000),
    wait: async (ms, signal) => {
      // A long wait is cut into pieces so that an abort in the middle ends it, as with the real clock.
      for (let left = Math.max(0, ms); left > 0 && signal?.aborted !== true; left -= 10) {
        state.nowUs += Math.min(left, 10) * 1000;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

export class FakeRole implements RoleTarget {
  readonly instance: RoleInstance;
  paused = false;
  healthy = true;
  hits: StepHit[] = [];
  seenExits: RoleExit[] = [];
  steps: Partial<Record<StepName, number>> = {};
  disarmed: string[] = [];
  wentOn: StepHit[] = [];
  /** A kill that leaves no exit: the process was gone already. */
  killLeavesNoExit = false;

  constructor(instance: RoleInstance) {
    this.instance = instance;
  }

  hit(step: StepName, hit: number, planId: string, monoUs: number): StepHit {
    const line: StepHit = { instance: this.instance, step, hit, ids: [], monoUs, action: 'kill', planId };
    this.hits.push(line);
    return line;
  }
  exit(signal: string, monoUs: number): void {
    this.seenExits.push({ instance: this.instance, pid: 1, code: null, signal, monoUs });
  }

  pid(): number {
    return 1;
  }
  kill(): Promise<void> {
    if (!this.killLeavesNoExit) this.exit('SIGKILL', Number.MAX_SAFE_INTEGER);
    return Promise.resolve();
  }
  pause(): Promise<void> {
    this.paused = true;
    return Promise.resolve();
  }
  resume(): Promise<void> {
    this.paused = false;
    return Promise.resolve();
  }
  isPaused(): Promise<boolean> {
    return Promise.resolve(this.paused);
  }
  isHealthy(): Promise<boolean> {
    return Promise.resolve(this.healthy);
  }
  actionHits(): readonly StepHit[] {
    return this.hits;
  }
  stepCounts(): Partial<Record<StepName, number>> {
    return this.steps;
  }
  disarm(planId: string): Promise<void> {
    this.disarmed.push(planId);
    return Promise.resolve();
  }
  goOn(hit: StepHit): void {
    this.wentOn.push(hit);
  }
  exits(): readonly RoleExit[] {
    return this.seenExits;
  }
  figures: Record<string, number> = {};
  ownClock: RoleClock | null = { aheadMs: 0, reads: 1 };
  metrics(): Promise<Record<string, number>> {
    return Promise.resolve(this.figures);
  }
  clock(): Promise<RoleClock | null> {
    return Promise.resolve(this.ownClock);
  }
}

export class FakeServer implements ServerTarget {
  readonly name: ServerName;
  frozen = false;
  /** A server that does not notice SIGSTOP. */
  deaf = false;
  dead = false;
  constructor(name: ServerName) {
    this.name = name;
  }
  freeze(): Promise<void> {
    this.frozen = !this.deaf;
    return Promise.resolve();
  }
  thaw(): Promise<void> {
    this.frozen = false;
    return Promise.resolve();
  }
  isFrozen(): Promise<boolean> {
    return Promise.resolve(this.frozen);
  }
  kill(): Promise<void> {
    this.dead = !this.deaf;
    return Promise.resolve();
  }
  start(): Promise<void> {
    this.dead = false;
    return Promise.resolve();
  }
  isRunning(): Promise<boolean> {
    return Promise.resolve(!this.dead);
  }
  unplugged = false;
  unplug(): Promise<void> {
    this.unplugged = !this.deaf;
    return Promise.resolve();
  }
  plugIn(): Promise<void> {
    this.unplugged = false;
    return Promise.resolve();
  }
  isUnplugged(): Promise<boolean> {
    return Promise.resolve(this.unplugged);
  }
  expectEnd(): Promise<void> {
    return Promise.resolve();
  }
}

export interface FakeTargets extends Targets {
  readonly fakeDatabase: FakeDatabase;
  readonly fakeMemory: FakeRedisMemory;
  readonly disks: Readonly<Record<'postgres' | 'kafka', FakeDisk>>;
  /** What servers write into their logs from now on. */
  logged: string;
  readonly links: ReadonlyMap<LinkName, FakeLink>;
  fakeLink(name: LinkName): FakeLink;
  fakeServer(name: ServerName): FakeServer;
  /** What the witness says about the orders topic. */
  stored: number;
  /** Servers answer also when they are unplugged. */
  leaks: boolean;
  /** Orders that the witness counts as unpaid. */
  unpaid: number;
  /** Events and compensation tasks that can still be delivered again. */
  repeatable: number;
  /** Reservations whose release can be asked for. */
  ended: number;
  /** Records of the dead-letter topic. */
  deadLetters: number;
  /** Malformed records that leave no trace. */
  poisonLost: number;
  /** Refused messages whose reservation Redis does not make. */
  unreserved: number;
  /** Of what was tampered with, per kind: as many are never repaired. */
  unrepaired: number;
  /** What Redis says of itself, and whether somebody rebuilds it. */
  mirror: { isOwn: boolean; epoch: number };
  rebuilds: boolean;
}

/** A server answers unless it is frozen; a link refuses when it is disabled. */
export function fakeTargets(fakeRoles: readonly FakeRole[]): FakeTargets {
  const links = new Map<LinkName, FakeLink>();
  const servers = new Map<ServerName, FakeServer>();
  const fakeLink = (name: LinkName): FakeLink => {
    const link = links.get(name) ?? new FakeLink(name);
    links.set(name, link);
    return link;
  };
  const fakeServer = (name: ServerName): FakeServer => {
    const server = servers.get(name) ?? new FakeServer(name);
    servers.set(name, server);
    return server;
  };
  const fakeDatabase = new FakeDatabase();
  const fakeMemory = new FakeRedisMemory();
  const disks = { postgres: new FakeDisk(), kafka: new FakeDisk() };
  const targets: FakeTargets = {
    fakeDatabase,
    fakeMemory,
    disks,
    logged: '',
    database: fakeDatabase,
    redisMemory: fakeMemory,
    disk: (server) => disks[server],
    links,
    fakeLink,
    fakeServer,
    stored: 0,
    leaks: false,
    unpaid: 0,
    repeatable: 0,
    ended: 0,
    deadLetters: 7,
    poisonLost: 0,
    unreserved: 0,
    unrepaired: 0,
    mirror: { isOwn: true, epoch: 1 },
    rebuilds: true,
    link: (name) => {
      // The fake's names are those of roles; this one belongs to the servers.
      return fakeLink(name as LinkName);
    },
    server: fakeServer,
    roles: (role: RoleName) => fakeRoles.filter(({ instance }) => instance.startsWith(`${role}-`)),
    witness: {
      ordersTopicEnd: () => Promise.resolve(targets.stored++),
      ordersStoredSince: () => Promise.resolve(targets.stored),
      answers: (server) => Promise.resolve(!fakeServer(server).frozen && !fakeServer(server).dead),
      probe: (address, store) => {
        const probe = probeOf([...links.values()].find((link) => link.listen === address));
        return Promise.resolve({ ...probe, exchange: (bytes, leastMs) => (fakeServer(SERVER_OF[store]).unplugged && !targets.leaks ? new Promise(() => undefined) : probe.exchange(bytes, leastMs)) });
      },
      refuses: (address) => Promise.resolve([...links.values()].some((link) => link.listen === address && !link.enabled)),
      logEnd: () => Promise.resolve(0),
      loggedSince: () => Promise.resolve(targets.logged),
      unpaidOrders: () => Promise.resolve(targets.unpaid),
    },
    redelivery: {
      repeatEvents: (_, most) => Promise.resolve(Math.min(most, targets.repeatable)),
      repeatCompensations: (most) => Promise.resolve(Math.min(most, targets.repeatable)),
      askForReleases: (most) => Promise.resolve(Math.min(most, targets.ended)),
    },
    poison: {
      produceMalformed: (count) => Promise.resolve(void (targets.deadLetters += Math.max(0, count - targets.poisonLost))),
      produceRefused: (count) => {
        targets.deadLetters += count;
        return Promise.resolve({ reserved: Math.ceil(count / 2) - targets.unreserved });
      },
      deadLetters: () => Promise.resolve(targets.deadLetters),
    },
    redis: fakePair(fakeServer),
    tampering: {
      tamper: (kind, count) => Promise.resolve(Array.from({ length: kind === 'stock-counter-off' ? 1 : count }, (_value, index) => `${kind}-${String(index)}`)),
      repaired: (_kind, subjects) => Promise.resolve(subjects.slice(targets.unrepaired)),
      disownMirror: () => Promise.resolve(void (targets.mirror.isOwn = false)),
      // After a rebuild the next look finds its own mark.
      mirrorMark: () => Promise.resolve(((mark) => (targets.mirror = targets.rebuilds && !mark.isOwn ? { isOwn: true, epoch: mark.epoch + 1 } : mark, mark))({ ...targets.mirror })),
    },
  };
  return targets;
}

/** The primary gets a reservation with each question; the replica stays where it was, and takes over when it is told to. */
function fakePair(fakeServer: (name: ServerName) => FakeServer): Targets['redis'] {
  const reserved = new Map<string, number>();
  let promoted = false;
  return {
    addressOf: (server) => ({ host: '127.0.0.1', port: server === 'redis-primary' ? 1 : 2 }),
    countOn: (server) => {
      if (server === 'redis-replica') return Promise.resolve(3);
      reserved.set(`r${String(reserved.size)}`, 900);
      return Promise.resolve(reserved.size);
    },
    reservedOn: (server) => Promise.resolve(new Map([...reserved].slice(0, server === 'redis-replica' ? 3 : reserved.size))),
    promoteReplica: () => Promise.resolve(void (promoted = true)),
    isPrimary: (server) => Promise.resolve(server === 'redis-replica' ? promoted : !fakeServer('redis-primary').dead),
  };
}
