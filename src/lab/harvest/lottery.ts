/**
 * The draws of the waiting rooms, out of the logs of the gateways: the pages of a round name who took part, its last line seals it. A round without a seal was never
 * answered (its gateway died first) and was no draw; a sealed one that lacks somebody is missing evidence.
 */
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import type { LotteryDraw } from '../../facts/lottery.js';

/** With the `inproc` transport the gateway lives in the generator. */
const LOGS = /^(gateway-[0-9]+|generator)\.log$/;

interface Pages {
  readonly entered: string[];
  readonly drawn: string[];
}

interface Line {
  readonly text: string;
  readonly time: string;
  readonly instance: string;
  readonly sku_id: string;
  readonly round: string;
  /** Of a page. */
  readonly won?: boolean;
  readonly requestIds?: string;
  /** Of a seal. */
  readonly seed?: number;
  readonly places?: number;
  readonly participants?: number;
  readonly drawn?: number;
}

function parsed(text: string): Line | null {
  if (!text.includes('"lottery: ')) return null;
  try {
    return JSON.parse(text) as Line;
  } catch {
    // Torn by the death of its gateway; the round has no seal then.
    return null;
  }
}

async function drawsOf(file: string): Promise<LotteryDraw[]> {
  const open = new Map<string, Pages>();
  const draws: LotteryDraw[] = [];
  for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    const line = parsed(text);
    if (line === null) continue;
    const key = `${line.sku_id} ${line.round}`;
    const pages = open.get(key) ?? { entered: [], drawn: [] };
    open.set(key, pages);
    if (line.text === 'lottery: participants') {
      const ids = (line.requestIds ?? '').split(' ');
      pages.entered.push(...ids);
      if (line.won === true) pages.drawn.push(...ids);
      continue;
    }
    const { participants, drawn, seed, places } = line;
    if (participants !== pages.entered.length || drawn !== pages.drawn.length || seed === undefined || places === undefined) {
      throw new Error(`${file}: the draw ${line.round} names ${String(participants)} participants and ${String(drawn)} drawn, and lists ${String(pages.entered.length)} and ${String(pages.drawn.length)}`);
    }
    draws.push({ gateway: line.instance, round: line.round, skuId: line.sku_id, seed, places, drawnAtMs: Date.parse(line.time), ...pages });
    open.delete(key);
  }
  return draws;
}

/** `directory`: the run's logs. Rejects when a draw is not told whole. */
export async function harvestLottery(directory: string): Promise<readonly LotteryDraw[]> {
  const files = (await readdir(directory)).filter((name) => LOGS.test(name)).sort();
  const draws: LotteryDraw[] = [];
  for (const name of files) draws.push(...(await drawsOf(join(directory, name))));
  return draws;
}
