/** The program that a lab left with its reaper, run when the lab is gone. */
import { execFile } from 'node:child_process';

/** An engine that is slow to kill containers takes seconds; one that hangs must not keep the reaper for ever. */
const LIMIT_MS = 60_000;

/** Returns what went wrong, in words. */
export function runAtEnd({ command, args }: { readonly command: string; readonly args: readonly string[] }): Promise<string[]> {
  return new Promise((resolve) => {
    execFile(command, [...args], { timeout: LIMIT_MS, killSignal: 'SIGKILL' }, (error, _stdout, stderr) => {
      const said = stderr.split('\n').filter((line) => line !== '');
      if (error === null) resolve([]);
      else resolve(said.length > 0 ? said : [`${command} ${args.join(' ')}: ${error.message}`]);
    });
  });
}
