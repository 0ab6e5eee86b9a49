/** The live view and Ctrl-C: the lab must live through the first signal, to heal and tear down, and end at the second. */
import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';

const FACE = new URL('../dist/tui/ink-face.js', import.meta.url).href;

/** A process with the live view on a pretended terminal that hears `signals` of itself, one after another, and ends after the last by itself. */
function runWithSignals(signals: number): Promise<{ readonly out: string; readonly signal: NodeJS.Signals | null }> {
  const script = `
    import { PassThrough } from 'node:stream';
    import { startInkFace } from ${JSON.stringify(FACE)};
    process.once('SIGINT', () => { console.log('heard'); });
    const terminal = Object.assign(new PassThrough(), { columns: 80, rows: 24, isTTY: true });
    terminal.resume();
    const face = startInkFace(terminal, 'a run');
    for (let sent = 0; sent < ${String(signals)}; sent += 1) {
      process.kill(process.pid, 'SIGINT');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    face.stop();
    console.log('came to its end');
  `;
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    let out = '';
    child.stdout.on('data', (piece: Buffer) => { out += piece.toString(); });
    child.on('error', reject);
    child.on('close', (_code, signal) => { resolve({ out, signal }); });
  });
}

describe('ink face', () => {
  it('lives through the first Ctrl-C', async () => {
    expect(await runWithSignals(1)).toEqual({ out: 'heard\ncame to its end\n', signal: null });
  });

  it('ends at the second', async () => {
    expect(await runWithSignals(2)).toEqual({ out: 'heard\n', signal: 'SIGINT' });
  });
});
