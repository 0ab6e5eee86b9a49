/** Tokens by the time each is due, soonest first: a binary heap, since payers fall due in any order. */
export class TimedQueue {
  #tokens: number[] = [];
  #dueUs: number[] = [];

  push(token: number, dueUs: number): void {
    let at = this.#tokens.length;
    for (let parent = (at - 1) >> 1; at > 0 && this.#dueAt(parent) > dueUs; parent = (at - 1) >> 1) {
      this.#put(at, this.#tokenAt(parent), this.#dueAt(parent));
      at = parent;
    }
    this.#put(at, token, dueUs);
  }

  /** The token that is due, or null. Stays until `shift`. */
  peek(nowUs: number): number | null {
    return this.#tokens.length === 0 || this.#dueAt(0) > nowUs ? null : this.#tokenAt(0);
  }

  /** Takes the first out. */
  shift(): void {
    const token = this.#tokens.pop();
    const dueUs = this.#dueUs.pop();
    if (token === undefined || dueUs === undefined || this.#tokens.length === 0) return;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= this.#tokens.length) break;
      if (child + 1 < this.#tokens.length && this.#dueAt(child + 1) < this.#dueAt(child)) child += 1;
      if (this.#dueAt(child) >= dueUs) break;
      this.#put(at, this.#tokenAt(child), this.#dueAt(child));
      at = child;
    }
    this.#put(at, token, dueUs);
  }

  clear(): void {
    this.#tokens = [];
    this.#dueUs = [];
  }

  #tokenAt(index: number): number {
    return this.#tokens[index] ?? 0;
  }

  #dueAt(index: number): number {
    return this.#dueUs[index] ?? Infinity;
  }

  #put(index: number, token: number, dueUs: number): void {
    this.#tokens[index] = token;
    this.#dueUs[index] = dueUs;
  }
}
