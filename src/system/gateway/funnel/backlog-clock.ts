/**
 * The age of the oldest unfinished message, from watermarks alone: what stood in the log at a time and is not finished now is at least as old as that. Costs no
 * read of messages and trusts no clock but the own monotonic one.
 */

/** Offsets by partition: the end of the log, or what the group has committed. */
export type Offsets = ReadonlyMap<number, number>;

interface Note {
  atMs: number;
  readonly end: number;
}

export class BacklogClock {
  readonly #notes = new Map<number, Note[]>();

  /** The ends of the partitions at a time; times must rise. */
  note(atMs: number, ends: Offsets): void {
    for (const [partition, end] of ends) {
      let notes = this.#notes.get(partition);
      if (notes === undefined) this.#notes.set(partition, (notes = []));
      const last = notes.at(-1);
      // Nothing was added since: of one end the first note (it was there by then) and the last one (nothing more was there until then) say all.
      if (last?.end === end && notes.at(-2)?.end === end) last.atMs = atMs;
      else notes.push({ atMs, end });
    }
  }

  /** 0 when everything is finished. Forgets what is finished, so it holds a note per reading since the oldest unfinished message. */
  ageMs(nowMs: number, committed: Offsets): number {
    let oldest = 0;
    for (const [partition, notes] of this.#notes) {
      const done = committed.get(partition) ?? 0;
      // The last note that is wholly finished: the oldest unfinished message came after it.
      while (notes.length > 1 && (notes[1]?.end ?? Infinity) <= done) notes.shift();
      const [first, last] = [notes[0], notes.at(-1)];
      if (first !== undefined && last !== undefined && last.end > done) oldest = Math.max(oldest, nowMs - first.atMs);
    }
    return oldest;
  }
}
