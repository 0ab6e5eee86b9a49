/** What only local servers have is refused in containers before anything is looked for, and stays with local servers where the choice is free. */
import { expect, it } from 'vitest';

import { refuseInContainers, startStack, whatOnlyLocalHas } from './start-stack.js';

it.each([[{ serverFiles: true }, /data and logs as files/], [{ smallKafkaDisk: true, serverFiles: true }, /a small disk under Kafka/]])('%o is refused in containers', async (wanted, words) => {
  const notes: string[] = [];
  await expect(startStack({ provider: 'containers', images: {} }, { lanes: 1, onNote: (text) => notes.push(text), ...wanted })).rejects.toMatchObject({ code: 'USAGE', message: expect.stringMatching(words) as unknown });
  expect(notes).toEqual([]);
});

it('nothing of it is refused when nothing of it is wanted', () => {
  expect(whatOnlyLocalHas({})).toBeNull();
  expect(whatOnlyLocalHas({ serverFiles: false, smallKafkaDisk: false })).toBeNull();
  expect(() => { refuseInContainers(null); }).not.toThrow();
});
