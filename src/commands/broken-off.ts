/** Ctrl-C in the middle of a command that goes on where it was: what it says names the command that does so. */
import { LabError } from '../facts/lab-error.js';

export function brokenOff(command: 'sweep' | 'mutants', directory: string): LabError {
  return new LabError('ABORTED', 'aborted by the user; the runs under way were healed and torn down, those before them are kept', `seckill-lab ${command} --resume ${directory}`);
}
