/**
 * ioredis 6 has a class that extends `String`. From the moment it is defined V8 holds `String.prototype` as a dictionary, and no compiled code of the process may rely on a
 * method of strings any more: each `charCodeAt` is a look-up of 14 ns instead of 1, which was a fifth of all that a gateway did (docs/decisions/0025). V8 looks at its
 * prototypes again when properties are read off objects that have them; strings themselves are no objects, so nothing in a usual program does that.
 */

/** From about the tenth call on V8 collects feedback here, and with it mends the prototypes. */
const READS = 1_000;

function firstCodeOf(text: string): number {
  return text.charCodeAt(0);
}

/** To be called once ioredis has been imported; takes some 50 µs. */
export function makeStringsFast(): void {
  // A wrapper object on purpose.
  for (let read = 0; read < READS; read += 1) firstCodeOf(Object('x') as string);
}
