// Parsing of /proc/sysvipc/shm.
import { expect, it } from 'vitest';

import { parseSharedMemory } from './shared-memory.js';

const TEXT = `       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  cgid      atime      dtime      ctime                   rss                  swap
   9977969          4   600                    56 11938 17069      9   101   104   101   104 1795992100 1795992100 1795991559                  4096                     0
         0         17   600                    56   222   222      0   101   104   101   104 1795992100 1795992100 1795991559                  4096                     0
`;

it('reads id, creator and attachments', () => {
  expect(parseSharedMemory(TEXT)).toEqual([
    { id: 4, creatorPid: 11_938, attached: 9 },
    { id: 17, creatorPid: 222, attached: 0 },
  ]);
});

it('reads an empty table', () => {
  expect(parseSharedMemory(TEXT.split('\n')[0]!)).toEqual([]);
});
