/** Throws away what the warm-up has left, so that the first collection in a sale finds the sale's own. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options?: { readonly type: 'minor' }) => void;

/** Node gives no other way to its collector than the one that `--expose-gc` opens; here it is opened for this call alone. */
function collector(): Collect {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  return collect;
}

/** Of everything. With options V8 collects the young alone, whatever they say. */
export function collectGarbage(): void {
  collector()();
}

/** Of the young, which leaves compiled code alone. */
export function collectYoungGarbage(): void {
  collector()({ type: 'minor' });
}
