// Which failures prove that a Redis call did nothing, and which prove nothing.
import { expect, test } from 'vitest';

import { classifyFailure } from './call-failure.js';

function reply(message: string): Error {
  return Object.assign(new Error(message), { name: 'ReplyError' });
}

test.each([
  reply("READONLY You can't write against a read only replica. script: 1, on @user_script:1."),
  reply('NOSCRIPT No matching script. Please use EVAL.'),
  reply('LOADING Redis is loading the dataset in memory'),
  reply("OOM command not allowed when used memory > 'maxmemory'."),
  reply('NOREPLICAS Not enough good replicas to write.'),
  reply('BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.'),
  new Error("Stream isn't writeable and enableOfflineQueue options is false"),
])('surely not done: %s', (error) => {
  expect(classifyFailure(error).outcome).toBe('surely-not-done');
});

test.each([
  new Error('Command timed out'),
  new Error('Connection is closed.'),
  new Error('Reached the max retries per request limit (which is 0). Refer to "maxRetriesPerRequest" option for details.'),
  Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
  reply('WRONGTYPE Operation against a key holding the wrong kind of value'),
  reply('ERR user_script:12: attempt to index a nil value'),
  // Only the server can say that it refused: the same words from elsewhere prove nothing.
  new Error('READONLY'),
  'thrown text',
])('unknown: %s', (error) => {
  expect(classifyFailure(error).outcome).toBe('unknown');
});
