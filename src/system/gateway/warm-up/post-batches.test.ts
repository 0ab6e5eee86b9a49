// An edge whose gateway does not answer gives up: a sale does not wait for a warm-up.
import { createServer } from 'node:net';
import { expect, test } from 'vitest';

import { postBatches } from './post-batches.js';

test('rejects when nothing comes back', async () => {
  const silent = createServer((socket) => { socket.resume().on('error', () => undefined); });
  await new Promise<void>((resolve) => { silent.listen(0, '127.0.0.1', resolve); });
  const address = silent.address();
  if (address === null || typeof address === 'string') throw new Error('not listening');
  await expect(postBatches({ host: '127.0.0.1', port: address.port }, { activityId: '7', skuId: '70' }, () => ({ form: 'json', body: '[]' }), 50)).rejects.toThrow(/has not answered for 50 ms/);
  silent.close();
});
