/**
 * The frame of every start, whoever provides the servers: a reaper first, which then owns folder, ports and processes; an abort that ends it;
 * nothing left when the start fails.
 */
import { randomBytes } from 'node:crypto';

import { LabError } from '../../facts/lab-error.js';
import { temporaryParent } from '../cache-folder.js';
import type { RunningStack, StartOptions } from '../running-stack.js';
import { PORTS_PER_BLOCK } from './port-block.js';
import { portsNeeded } from './port-plan.js';
import { launchReaper } from './reaper-client.js';
import type { ReaperClient } from './reaper-client.js';
import type { OpenAnswer } from './reaper-protocol.js';

const MAX_LANES = 10;

/** LabError USAGE. Before anything is looked for. */
export function refuseLanes(lanes: number): void {
  if (!Number.isInteger(lanes) || lanes < 1 || lanes > MAX_LANES) {
    throw new LabError('USAGE', `lanes must be 1 to ${String(MAX_LANES)}, not ${String(lanes)}`, 'give another number of lanes');
  }
}

/** Runs `start` with a reaper of its own. Rejects with what `start` rejects with, or ABORTED, when the reaper and all it held are gone. */
export async function startUnderReaper(options: StartOptions, start: (reaper: ReaperClient, id: string) => Promise<RunningStack>): Promise<RunningStack> {
  if (isAborted(options)) throw aborted();
  const id = randomBytes(6).toString('hex');
  const reaper = launchReaper(id);
  const abort = (): void => void endReaper(reaper);
  options.signal?.addEventListener('abort', abort, { once: true });
  try {
    const stack = await start(reaper, id);
    options.signal?.throwIfAborted();
    return stack;
  } catch (error) {
    await endReaper(reaper);
    throw isAborted(options) ? aborted(error) : error;
  } finally {
    options.signal?.removeEventListener('abort', abort);
  }
}

/** A call, because the compiler takes what it once saw of a property for lasting. */
function isAborted(options: StartOptions): boolean {
  return options.signal?.aborted === true;
}

function aborted(cause?: unknown): LabError {
  return new LabError('ABORTED', 'aborted while the stack was starting', 'start it again', { cause });
}

async function endReaper(reaper: ReaperClient): Promise<void> {
  await reaper.request({ op: 'end' }).catch(() => undefined);
  await reaper.waitUntilGone();
  reaper.release();
}

export async function openStackFolder(reaper: ReaperClient, lanes: number): Promise<OpenAnswer> {
  const chosen = process.env['SECKILL_LAB_FIRST_PORT'];
  const fixedStart = chosen === undefined || chosen === '' ? null : Number(chosen);
  if (fixedStart !== null && !(Number.isInteger(fixedStart) && fixedStart >= 1_024 && fixedStart + PORTS_PER_BLOCK <= 65_536)) {
    throw new LabError('USAGE', `SECKILL_LAB_FIRST_PORT is no usable port: ${String(chosen)}`, `give the first of ${String(PORTS_PER_BLOCK)} free ports, or unset it`);
  }
  try {
    return await reaper.request({ op: 'open', parentFolder: temporaryParent(), portsNeeded: portsNeeded(lanes), fixedStart, forOtherUsers: process.getuid?.() === 0 });
  } catch (cause) {
    if (!(cause instanceof Error) || cause instanceof LabError || !cause.message.includes('block of ports')) throw cause;
    const where = fixedStart === null ? 'below the ephemeral range' : `from ${String(fixedStart)} (SECKILL_LAB_FIRST_PORT)`;
    throw new LabError('PORT_IN_USE', `no free block of ports ${where}: other stacks or programs hold them`, 'end what runs there (`npx seckill-lab down`), or choose another SECKILL_LAB_FIRST_PORT', { cause });
  }
}
