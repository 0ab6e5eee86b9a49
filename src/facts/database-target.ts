/**
 * PostgreSQL in the hands of a fault: locks, snapshots, connections, archive and disk of the run's database, over direct connections of the lab's own.
 * Everything held here is let go by `release`, which may be called at any time and more than once.
 */
/** Rows that many transactions of the system meet. `tokens`: all units that are for sale now. `orders`: all orders that are unpaid now. */
export const HOT_ROWS = ['inventory', 'tokens', 'orders'] as const;
export type HotRows = (typeof HOT_ROWS)[number];

/** In the order in which a transaction of the consumer writes to them. */
export const LEDGER_TABLES = ['consumer_inbox', 'inventory_reservation', 'orders', 'order_items', 'inventory_ledger', 'event_outbox'] as const;
export type LedgerTable = (typeof LEDGER_TABLES)[number];

/** A session of the system that waits for a lock, directly or behind another one that waits. */
export interface LockWaiter {
  /** As it names itself: the role instance, with the name of a pool behind it where it has several. */
  readonly application: string;
  readonly processId: number;
  /** Tables on which it holds a lock itself. */
  readonly holds: readonly string[];
}

export interface HeldLocks {
  /** Rows, or tables, that are locked. */
  readonly count: number;
  /** Who waits for these locks now. */
  waiters(): Promise<readonly LockWaiter[]>;
  /** One table more in the same transaction, against all writers; false when it was not to be had within 5 s. This session is never the victim of a deadlock. */
  take(table: LedgerTable): Promise<boolean>;
  release(): Promise<void>;
}

export interface HeldConnections {
  /** How many the lab has open. */
  readonly count: number;
  /** Sessions of the roles at the server, asked over one of these: nobody else gets in to ask. */
  roleSessions(): Promise<number>;
  release(): Promise<void>;
}

/** What VACUUM says of the run's tables. */
export interface VacuumReport {
  readonly removedRows: number;
  /** Dead, and kept because somebody might still see them. */
  readonly unremovableRows: number;
}

export interface ArchiverFigures {
  readonly archived: number;
  readonly failed: number;
  /** Full segments that wait for the archiver. */
  readonly waiting: number;
}

export interface DatabaseTarget {
  /** One transaction that locks the rows until it is released. What somebody else has locked is left out. */
  lockRows(rows: HotRows): Promise<HeldLocks>;
  /** One transaction that locks a table against all writers, or against everybody. LabError when it is not to be had within 5 s. */
  lockTable(table: LedgerTable, against: 'writers' | 'everybody'): Promise<HeldLocks>;
  /** How long a session waits before it looks for a deadlock; null: as the server is set up. The system's own bound on locks is as long as the usual second. */
  setDeadlockTimeout(ms: number | null): Promise<void>;
  /** Deadlocks of the run's database since the server's statistics began. */
  deadlocks(): Promise<number>;
  /** Orders that are committed. */
  orderCount(): Promise<number>;
  /** A transaction that can see everything as it is now, and so keeps every row that dies after it. */
  holdSnapshot(): Promise<{ release(): Promise<void> }>;
  /** Vacuums the tables of the run. */
  vacuum(): Promise<VacuumReport>;
  /** Opens connections until the server has none left to give, then ends those of the roles, which cannot come back. */
  takeConnections(): Promise<HeldConnections>;
  /** The server refuses a new connection because it has none left. */
  refusesConnections(): Promise<boolean>;
  /** Sessions of the roles at the server. */
  roleSessions(): Promise<number>;
  /** Lets every attempt to archive a WAL segment fail, or succeed again. */
  setArchiving(works: boolean): Promise<void>;
  /** Closes the current WAL segment, so that the archiver gets one. */
  switchSegment(): Promise<void>;
  archiver(): Promise<ArchiverFigures>;
}

/** A small disk of its own under the data of a server. */
export interface DiskTarget {
  /** Moves the data there where it is not there yet. LabError when no such disk can be made here. */
  prepare(): Promise<void>;
  /** Takes all that is free. */
  fill(): Promise<void>;
  freeBytes(): Promise<number>;
  /** Gives back what `fill` took. */
  empty(): Promise<void>;
  /** Moves the data back where `prepare` moved it. */
  restore(): Promise<void>;
}
