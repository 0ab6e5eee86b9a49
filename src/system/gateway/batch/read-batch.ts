/** From the body of a batch to its items, each checked by itself. */
import { BATCH_ITEMS_MAX, BINARY_ITEM_BYTES, type BatchForm } from '../../../domain/batch-contract.js';
import type { SkuKey } from '../../../domain/ids.js';
import { plainItem, validateItem, validateIds, type Validated, type ValidReservation } from '../validate.js';
import { readBinaryItem } from './binary-item.js';
import { countOf, requestIdOf, scanPlainItems, userIdOf } from './scan-json.js';

export type BatchItem = Validated<ValidReservation>;

/** `problem`: the body is no batch, and nothing of it was looked at. */
export type ReadBatch = { readonly ok: true; readonly items: readonly BatchItem[] } | { readonly ok: false; readonly problem: string };

const TOO_MANY = `a batch has at most ${String(BATCH_ITEMS_MAX)} items`;

function readJson(body: Buffer, sku: SkuKey): ReadBatch {
  const plain = scanPlainItems(body);
  if (plain !== null) return { ok: true, items: Array.from({ length: countOf(plain) }, (_item, index) => plainItem(sku, requestIdOf(body, plain, index), userIdOf(body, plain, index))) };
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString());
  } catch {
    return { ok: false, problem: 'the body is not JSON' };
  }
  if (!Array.isArray(parsed)) return { ok: false, problem: 'the body must be a JSON array' };
  if (parsed.length > BATCH_ITEMS_MAX) return { ok: false, problem: TOO_MANY };
  return { ok: true, items: parsed.map((item: unknown) => validateItem(sku, item)) };
}

function readLine(line: string, sku: SkuKey): BatchItem {
  try {
    return validateItem(sku, JSON.parse(line) as unknown);
  } catch {
    return { ok: false, problems: ['the line is not JSON'], requestId: null };
  }
}

/** Every line is an item, an empty one too: answers are told apart by their order. Only the end of the last line may be missing. */
function readLines(text: string, sku: SkuKey): ReadBatch {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  if (lines.length > BATCH_ITEMS_MAX) return { ok: false, problem: TOO_MANY };
  return { ok: true, items: lines.map((line) => readLine(line, sku)) };
}

function readBinary(bytes: Buffer, sku: SkuKey): ReadBatch {
  const count = bytes.length / BINARY_ITEM_BYTES;
  if (!Number.isInteger(count)) return { ok: false, problem: `the body is not made of items of ${String(BINARY_ITEM_BYTES)} bytes` };
  if (count > BATCH_ITEMS_MAX) return { ok: false, problem: TOO_MANY };
  const items: BatchItem[] = [];
  for (let item = 0; item < count; item += 1) {
    const { requestId, userId } = readBinaryItem(bytes, item);
    items.push(validateIds(sku, requestId, userId));
  }
  return { ok: true, items };
}

/** The ids of `sku` have been checked: it is one that is sold here. */
export function readBatch(form: BatchForm, body: Buffer, sku: SkuKey): ReadBatch {
  switch (form) {
    case 'json': return readJson(body, sku);
    case 'ndjson': return readLines(body.toString(), sku);
    case 'binary': return readBinary(body, sku);
  }
}
