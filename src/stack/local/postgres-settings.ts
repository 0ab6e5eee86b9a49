/** How PostgreSQL is set up in every stack of the lab. */
export const SUPERUSER = 'seckill';

/**
 * Durable as in production (fsync, synchronous_commit), with the commit log readable by the judges (wal_level, track_commit_timestamp).
 * Dynamic shared memory goes to files of the data folder instead of /dev/shm, so that removing the folder removes it.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  wal_level: 'logical',
  // Archiving is on and, until a fault breaks it, comes to nothing: the command is set in the server's own configuration (`giveOwnPassword`).
  archive_mode: 'on',
  track_commit_timestamp: 'on',
  max_replication_slots: '64',
  max_wal_senders: '16',
  max_connections: '200',
  shared_buffers: '128MB',
  dynamic_shared_memory_type: 'mmap',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // A sale begins with empty tables and is over before the first minute, after which autovacuum looks by default. Until it has counted, plans that sessions keep are those
  // for empty tables: measured, each payment read three hundred reservations to find its own.
  autovacuum_naptime: '5s',
  // Short transactions only: compiling a plan costs more than it saves.
  jit: 'off',
};

export function postgresSettings(): string[] {
  return Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

export function postgresArguments(dataFolder: string, port: number): string[] {
  return ['-D', dataFolder, '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', ...postgresSettings()];
}
