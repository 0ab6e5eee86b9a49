/** `seckill-lab size`: where more connections, larger batches and more consumers stop paying on this machine, and the settings that follow. */
import { z } from 'zod';

import { ExitCode } from '../exit-codes.js';
import { LabError } from '../facts/lab-error.js';
import { medianRate } from '../lab/size/knee.js';
import { ORDERS_MIN, runSize, type SizeTable } from '../lab/size/run-size.js';
import { startLocalStack } from '../stack/local/start-local-stack.js';
import type { CommandIo } from './command-io.js';

const OPTIONS = z.object({
  repeats: z.coerce.number().int().min(1).max(20),
  orders: z.coerce.number().int().min(ORDERS_MIN).max(100_000),
});

export interface SizeCommandOptions {
  readonly repeats: string;
  readonly orders: string;
  readonly json?: boolean;
}

/** One line per value, the knee marked. */
export function sizeText(tables: readonly SizeTable[]): string {
  const lines = tables.flatMap(({ setting, with: same, rows, knee }) => [
    `${setting} (${same}): orders a second, median (min–max)`,
    ...rows.map((row) => `  ${String(row.value).padStart(6)}  ${medianRate(row).toFixed(0).padStart(6)} (${Math.min(...row.rates).toFixed(0)}–${Math.max(...row.rates).toFixed(0)})${row.value === knee ? '  ← knee' : ''}`),
  ]);
  const [pool, batch, consumers, allocator] = tables.map(({ knee }) => String(knee));
  return `${lines.join('\n')}\nrecommended: --consumer batch:${batch ?? '?'} --consumers ${consumers ?? '?'} --allocator ${allocator ?? '?'}; postgresPoolSize ${pool ?? '?'} where orders are written one by one\nbuckets: none to size, a SKU has one stock\n`;
}

/** 0; 2 when the stack cannot be had. Wants an otherwise idle machine. */
export async function runSizeCommand(raw: SizeCommandOptions, io: CommandIo): Promise<number> {
  const parsed = OPTIONS.safeParse(raw);
  if (!parsed.success) throw new LabError('USAGE', parsed.error.issues.map((issue) => `--${issue.path.join('.')}: ${issue.message}`).join('; '), 'see `seckill-lab size --help`');
  const stack = await startLocalStack({ lanes: 1, onNote: (text) => { io.stderr(`size: ${text}\n`); } });
  try {
    const tables = await runSize(stack, { ...parsed.data, onMeasure: (text) => { io.stderr(`size: ${text}\n`); } });
    io.stdout(raw.json === true ? `${JSON.stringify(tables, null, 2)}\n` : sizeText(tables));
    return ExitCode.green;
  } finally {
    await stack.stop();
  }
}
