/** Database, disk and Redis memory made of plain values, for unit tests of faults: a test says what moves. */
import type { ArchiverFigures, DatabaseTarget, DiskTarget, HeldConnections, HeldLocks, LockWaiter, VacuumReport } from '../facts/database-target.js';
import type { RedisBooks, RedisHoldings, RedisMemory } from '../facts/targets.js';

export class FakeDatabase implements DatabaseTarget {
  /** Rows that a lock on rows gets. */
  lockable = 1;
  waiting: readonly LockWaiter[] = [];
  /** What taking one table more gives. */
  takes = true;
  deadlockCount = 0;
  deadlockTimeoutMs: number | null = null;
  orders = 0;
  /** Orders made between two looks. */
  ordersPerLook = 0;
  /** How many are held and not let go. */
  held = 0;
  dead: VacuumReport = { removedRows: 0, unremovableRows: 0 };
  /** What a vacuum says when no snapshot is held. */
  deadAfter: VacuumReport = { removedRows: 5, unremovableRows: 0 };
  roles = 3;
  /** Connections that the roles get back although all are taken. */
  rolesComeBack = 0;
  archive: ArchiverFigures = { archived: 1, failed: 0, waiting: 0 };
  archives = true;
  /** An archiver that does not care what it was told. */
  archiverDeaf = false;

  #hold(): () => Promise<void> {
    this.held += 1;
    let open = true;
    return () => {
      if (open) this.held -= 1;
      open = false;
      return Promise.resolve();
    };
  }
  #locks(count: number): Promise<HeldLocks> {
    return Promise.resolve({ count, waiters: () => Promise.resolve(this.waiting), take: () => Promise.resolve(this.takes && ++this.deadlockCount > 0), release: this.#hold() });
  }
  lockRows(): Promise<HeldLocks> {
    return this.#locks(this.lockable);
  }
  lockTable(): Promise<HeldLocks> {
    return this.#locks(1);
  }
  setDeadlockTimeout(ms: number | null): Promise<void> {
    this.deadlockTimeoutMs = ms;
    return Promise.resolve();
  }
  deadlocks(): Promise<number> {
    return Promise.resolve(this.deadlockCount);
  }
  orderCount(): Promise<number> {
    this.orders += this.ordersPerLook;
    return Promise.resolve(this.orders);
  }
  holdSnapshot(): Promise<{ release(): Promise<void> }> {
    return Promise.resolve({ release: this.#hold() });
  }
  vacuum(): Promise<VacuumReport> {
    return Promise.resolve(this.held > 0 ? this.dead : this.deadAfter);
  }
  takeConnections(): Promise<HeldConnections> {
    const roles = this.roles;
    this.roles = this.rolesComeBack;
    const release = this.#hold();
    return Promise.resolve({ count: 190, roleSessions: () => this.roleSessions(), release: async () => { await release(); this.roles = roles; } });
  }
  refusesConnections(): Promise<boolean> {
    return Promise.resolve(this.held > 0);
  }
  roleSessions(): Promise<number> {
    return Promise.resolve(this.roles);
  }
  setArchiving(works: boolean): Promise<void> {
    this.archives = works;
    return Promise.resolve();
  }
  switchSegment(): Promise<void> {
    const { archived, failed, waiting } = this.archive;
    this.archive = this.archives || this.archiverDeaf ? { archived: archived + waiting + 1, failed, waiting: 0 } : { archived, failed: failed + 1, waiting: waiting + 1 };
    return Promise.resolve();
  }
  archiver(): Promise<ArchiverFigures> {
    return Promise.resolve(this.archive);
  }
}

export class FakeDisk implements DiskTarget {
  free = 1_000_000;
  prepared = false;
  /** A disk that always has room. */
  bottomless = false;
  prepare(): Promise<void> {
    this.prepared = true;
    return Promise.resolve();
  }
  fill(): Promise<void> {
    if (!this.bottomless) this.free = 0;
    return Promise.resolve();
  }
  freeBytes(): Promise<number> {
    return Promise.resolve(this.free);
  }
  empty(): Promise<void> {
    this.free = 1_000_000;
    return Promise.resolve();
  }
  restore(): Promise<void> {
    this.prepared = false;
    return Promise.resolve();
  }
}

export class FakeRedisMemory implements RedisMemory {
  scripts = 5;
  misses = 0;
  missesPerFlush = 1;
  kept: RedisBooks = { stock: true, meta: true, records: 4, marks: 3, waiting: 2, marksDue: 3, waitingMissing: 0, unsentAtMs: [] };
  evictions = 0;
  policy = 'noeviction';
  /** Called with every filling. */
  onFill: () => void = () => undefined;
  flushScripts(): Promise<void> {
    // Who misses a script brings it along.
    this.scripts = this.missesPerFlush;
    this.misses += this.missesPerFlush;
    return Promise.resolve();
  }
  cachedScripts(): Promise<number> {
    return Promise.resolve(this.scripts);
  }
  scriptMisses(): Promise<number> {
    return Promise.resolve(this.misses);
  }
  holdings(): Promise<RedisHoldings> {
    return Promise.resolve(this.kept);
  }
  books(): Promise<RedisBooks> {
    return Promise.resolve(this.kept);
  }
  setBound(policy: string): Promise<void> {
    this.policy = policy;
    return Promise.resolve();
  }
  evicted(): Promise<number> {
    return Promise.resolve(this.evictions);
  }
  fill(): Promise<void> {
    this.onFill();
    return Promise.resolve();
  }
  empty(): Promise<void> {
    return Promise.resolve();
  }
  cutTail(bytes: number): Promise<number> {
    return Promise.resolve(bytes);
  }
}
