/**
 * Containers of one network are started one after the other; that they are ready is waited for side by side. The engine counts a network's endpoints without a lock: of two that come at once one
 * may be counted twice, and then the network has "active endpoints" and cannot be removed until the engine is started again, which says "Fixing inconsistent endpoint_cnt" (seen with 20.10.24, once in some
 * hundred stacks, and whoever looks for what a lab has left finds it).
 */
export function oneAfterTheOther(): <Result>(start: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (start) => {
    const mine = last.then(start, start);
    last = mine;
    return mine;
  };
}
