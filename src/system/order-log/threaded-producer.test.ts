// The producer behind a channel to its thread: each message gets its own outcome, in time, whatever the thread does.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import type { SendResult } from './order-log-port.js';
import { createThreadedProducer, type LineFromThread, type LineToThread, type ProducerThread } from './threaded-producer.js';

const SETTINGS = { address: { host: '127.0.0.1', port: 1 }, clientId: 'c', topics: ['orders'], sendBudgetMs: 80, nice: 0 };
const SENT: SendResult = { outcome: 'sent', reason: null };

function thread() {
  const lines: LineToThread[] = [];
  let hear: (line: LineFromThread) => void = () => undefined;
  let die: (error: Error) => void = () => undefined;
  let terminated = false;
  const made: ProducerThread = {
    postMessage: (line) => void lines.push(line),
    on(event: 'message' | 'error', listener: ((line: LineFromThread) => void) | ((error: Error) => void)) {
      if (event === 'message') hear = listener as (line: LineFromThread) => void;
      else die = listener as (error: Error) => void;
    },
    terminate: () => Promise.resolve(void (terminated = true)),
  };
  const producer = createThreadedProducer(SETTINGS, () => undefined, () => made);
  return { producer, lines, tell: (line: LineFromThread) => { hear(line); }, die: (error: Error) => { die(error); }, isTerminated: () => terminated };
}
const message = (key: string) => ({ key, value: key });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

// Time stands still but where a test says so: a slow machine uses nobody's budget up.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('what comes in one turn goes over in one line, and each message hears its own outcome', async () => {
  const { producer, lines, tell } = thread();
  const all = ['a', 'b', 'c'].map((key) => producer.send('orders', message(key)));
  await turn();
  expect(lines).toMatchObject([{ kind: 'send', first: 0, topics: ['orders', 'orders', 'orders'] }]);
  const fourth = producer.send('orders', message('d'));
  await turn();
  expect(lines[1]).toMatchObject({ first: 3, messages: [{ key: 'd' }] });
  tell({ kind: 'results', ids: [3, 1], results: [SENT, { outcome: 'unknown', reason: 'x' }] });
  tell({ kind: 'results', ids: [0, 2], results: [SENT, { outcome: 'surely-not-sent', reason: 'y' }] });
  expect((await Promise.all([...all, fourth])).map(({ outcome }) => outcome)).toEqual(['sent', 'unknown', 'surely-not-sent', 'sent']);
});

test('what has not gone over yet goes before the end', async () => {
  const { producer, lines } = thread();
  void producer.send('orders', message('a'));
  const closed = producer.close();
  expect(lines).toMatchObject([{ kind: 'send', first: 0, messages: [{ key: 'a' }] }, { kind: 'close' }]);
  // Nobody answers.
  await vi.advanceTimersByTimeAsync(2_000);
  await closed;
  expect(lines).toHaveLength(2);
});

test('a thread that says nothing makes every send unknown when its budget is over, and a late word changes nothing', async () => {
  const { producer, tell } = thread();
  const heard: string[] = [];
  void producer.send('orders', message('a')).then(({ outcome }) => heard.push(outcome));
  await vi.advanceTimersByTimeAsync(SETTINGS.sendBudgetMs - 1);
  expect(heard).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(heard).toEqual(['unknown']);
  const second = producer.send('orders', message('b'));
  await turn();
  tell({ kind: 'results', ids: [0], results: [SENT] });
  tell({ kind: 'results', ids: [1], results: [SENT] });
  expect((await second).outcome).toBe('sent');
});

test('a thread that dies leaves what it had unknown, and takes nothing more', async () => {
  const { producer, die } = thread();
  const had = producer.send('orders', message('a'));
  await turn();
  die(new Error('bug'));
  expect((await had).outcome).toBe('unknown');
  expect((await producer.send('orders', message('b'))).outcome).toBe('surely-not-sent');
});

test('ready is the word of the thread; closing waits for it and then ends the thread', async () => {
  const { producer, lines, tell, isTerminated } = thread();
  const ready = producer.ready();
  tell({ kind: 'answer', ask: 1, value: true });
  expect(await ready).toBe(true);
  const last = producer.send('orders', message('a'));
  const closed = producer.close();
  expect(lines.map(({ kind }) => kind)).toEqual(['ready', 'send', 'close']);
  tell({ kind: 'results', ids: [0], results: [SENT] });
  tell({ kind: 'answer', ask: 2, value: true });
  await closed;
  expect([(await last).outcome, isTerminated()]).toEqual(['sent', true]);
  expect((await producer.send('orders', message('b'))).outcome).toBe('surely-not-sent');
});
