/** Sends batches to a gateway over a few connections, as an edge does. */
import { connect } from 'node:net';

import { BATCH_CONTENT_TYPES, batchPath, type BatchForm } from '../../../domain/batch-contract.js';
import type { SkuKey } from '../../../domain/ids.js';
import type { HostPort } from '../../../domain/role-config.js';
import { writerInTwo } from './writer-in-two.js';

/** Enough for more batches at once than the line in front of Redis takes. */
const CONNECTIONS = 32;
/** A batch takes some milliseconds; this long only where something hangs, and then the sale must not wait for the warm-up. */
const ANSWERED_WITHIN_MS = 3_000;
const CONTENT_LENGTH = /content-length: *([0-9]+)/i;

export interface Batch {
  readonly form: BatchForm;
  /** One character a byte. */
  readonly body: string;
}

function batchText({ host, port }: HostPort, { activityId, skuId }: SkuKey, { form, body }: Batch): string {
  return `POST ${batchPath(activityId, skuId)} HTTP/1.1\r\nHost: ${host}:${String(port)}\r\nContent-Type: ${BATCH_CONTENT_TYPES[form]}\r\nContent-Length: ${String(body.length)}\r\n\r\n${body}`;
}

/** One connection, one batch in flight. Resolves when `nextBatch` has no more; rejects when the connection ends before, or nothing comes for so long. */
function sendOver(address: HostPort, sku: SkuKey, nextBatch: () => Batch | null, answeredWithinMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ ...address, noDelay: true });
    const write = writerInTwo(socket);
    let answer = '';
    function send(): void {
      const batch = nextBatch();
      if (batch !== null) {
        write(batchText(address, sku, batch));
        return;
      }
      socket.destroy();
      resolve();
    }
    socket.on('connect', send);
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString('latin1');
      const head = answer.indexOf('\r\n\r\n');
      if (head === -1 || answer.length < head + 4 + Number(CONTENT_LENGTH.exec(answer.slice(0, head))?.[1] ?? Infinity)) return;
      answer = '';
      send();
    });
    socket.on('error', reject);
    socket.on('end', () => { reject(new Error('the gateway closed a connection in its warm-up')); });
    socket.setTimeout(answeredWithinMs, () => {
      socket.destroy(new Error(`the gateway has not answered for ${String(answeredWithinMs)} ms in its warm-up`));
    });
  });
}

/** `nextBatch`: null when there is none; called until then. */
export async function postBatches(address: HostPort, sku: SkuKey, nextBatch: () => Batch | null, answeredWithinMs = ANSWERED_WITHIN_MS): Promise<void> {
  await Promise.all(Array.from({ length: CONNECTIONS }, () => sendOver(address, sku, nextBatch, answeredWithinMs)));
}
