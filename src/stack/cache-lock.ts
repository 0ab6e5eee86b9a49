/**
 * One at a time in the cache, across processes: an abstract Unix socket is the lock, so the kernel frees it when its holder dies in any
 * way. A lock file would need its holder's pid, a start time and a rule for stale ones.
 */
import { createHash } from 'node:crypto';
import { createConnection, createServer } from 'node:net';
import type { Server } from 'node:net';

/** Waits for the lock, runs the work, frees the lock. `onWait` is called once when somebody else holds it. */
export async function withCacheLock<T>(cache: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  const address = `\0seckill-lab-${createHash('sha256').update(cache).digest('hex').slice(0, 24)}`;
  let waited = false;
  let server = await tryLock(address);
  while (server === null) {
    if (!waited) onWait();
    waited = true;
    await untilFreed(address);
    server = await tryLock(address);
  }
  try {
    return await work();
  } finally {
    const held = server;
    held.close();
    for (const socket of waiters.get(held) ?? []) socket.destroy();
  }
}

const waiters = new WeakMap<Server, Set<{ destroy(): void }>>();

function tryLock(address: string): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const sockets = new Set<{ destroy(): void }>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
    });
    waiters.set(server, sockets);
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(null);
      else reject(error);
    });
    server.listen(address, () => {
      resolve(server);
    });
  });
}

/** Resolves when the holder closes the connection or is gone. */
function untilFreed(address: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = createConnection(address);
    socket.on('error', () => undefined);
    socket.once('close', () => {
      resolve();
    });
    socket.resume();
  });
}
