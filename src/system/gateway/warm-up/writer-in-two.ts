/** Writes every text in two pieces, so that the other end runs what it does when the network cuts a message anywhere. */
import type { Socket } from 'node:net';

/** The second half goes out a turn of the event loop later, with what is written meanwhile behind it. Latin1. */
export function writerInTwo(socket: Pick<Socket, 'write'>): (text: string) => void {
  let later = '';
  return (text) => {
    if (later !== '') {
      later += text;
      return;
    }
    const half = text.length >> 1;
    socket.write(text.slice(0, half), 'latin1');
    later = text.slice(half);
    setImmediate(() => {
      socket.write(later, 'latin1');
      later = '';
    });
  };
}
