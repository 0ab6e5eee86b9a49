/**
 * Entry of the reaper's last act for a stack in containers: `sweep-main.js <stack id>` removes all that carries the stack's label. A process of
 * its own, so that the reaper itself stays small.
 */
import { reachEngine } from './engine.js';
import { removeStack } from './sweep-engine.js';

const [, , stackId] = process.argv;
if (stackId === undefined) throw new Error('the id of a stack is missing');
const { docker } = await reachEngine();
const { problems } = await removeStack(docker, stackId, true);
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exit(problems.length === 0 ? 0 : 1);
