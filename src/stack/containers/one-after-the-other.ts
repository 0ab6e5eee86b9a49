/**
 * Containers of one network are started one after the other; that they are ready is waited for side by side. Once in some hundred stacks Docker 20.10.24 kept a network that had "active endpoints" and no
 * container, and said "Fixing inconsistent endpoint_cnt, Expected=0, Actual=1" when it was started again. What counts them tries again when another has counted meanwhile, and adds to what it has added
 * already: by its source two starts at once can do that, which could not be called forth. Nothing but a new start of the engine removes such a network.
 */
export function oneAfterTheOther(): <Result>(start: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (start) => {
    const mine = last.then(start, start);
    last = mine;
    return mine;
  };
}
