/** A resume puts new results beside old ones: both have to be of one system. */
import { LabError } from '../facts/lab-error.js';
import { packageRoot } from '../lab/package-root.js';
import { codeDigest } from '../stack/images/code-digest.js';

/** `begunWith`: what the plan in the folder says. LabError USAGE where the code that runs now is not the code that it was begun with. */
export function refuseOtherCode(what: string, begunWith: { readonly gitSha: string | null; readonly codeDigest: string }, now = codeDigest(packageRoot())): void {
  if (begunWith.codeDigest === now) return;
  const at = begunWith.gitSha === null ? '' : `, or check out ${begunWith.gitSha}, build and go on`;
  throw new LabError('USAGE', `${what} was begun with other code (${begunWith.codeDigest}) than runs now (${now}): its results would be of two systems`, `start anew without --resume${at}`);
}
