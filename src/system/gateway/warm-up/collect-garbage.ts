/** Throws away what the warm-up has left, so that the first collection in a sale finds the sale's own. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Node gives no other way to its collector than the one that `--expose-gc` opens; here it is opened for this call alone. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  collect();
}
