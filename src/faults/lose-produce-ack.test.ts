// lose-produce-ack: a strike counts when a message was stored and no answer to it came through, and when nobody else can have sent it.
import { describe, expect, test } from 'vitest';

import { FakeRole, fakeTargets } from './fake-targets.test-support.js';
import { begin, live } from './fault-in-hand.test-support.js';

describe('lose-produce-ack', () => {
  test('lands when messages were stored and bytes lost, and not when only one of them', async () => {
    const targets = fakeTargets([new FakeRole('gateway-1')]);
    const link = targets.fakeLink('gateway-kafka');
    link.onChange = () => { targets.stored += 1; link.move(60, 0); };
    const { proof, heal } = await live('lose-produce-ack@n=3', targets);
    expect(proof).toMatchObject({ landed: true, strikes: 3 });
    expect(proof.unheardMessages).toBeGreaterThanOrEqual(3);
    expect(proof.observed).toContain(`${String(proof.unheardMessages)} messages stored while armed`);
    expect(heal.healed).toBe(true);
    link.onChange = () => { targets.stored += 1; };
    expect((await live('lose-produce-ack@n=1', targets)).proof).toMatchObject({ landed: false, strikes: 0 });
    expect(link.toxics).toEqual([]);
  });

  test('a broker that answers long after it has stored finds the toxic still there', async () => {
    const targets = fakeTargets([new FakeRole('gateway-1')]);
    const link = targets.fakeLink('gateway-kafka');
    const { hand, clock } = begin('lose-produce-ack@n=1,mode=close', targets);
    let answeredUs = Infinity;
    // One produce call and no more: whatever is lost, is lost in it.
    link.onChange = () => {
      targets.stored = answeredUs === Infinity ? 500 : 0;
      answeredUs = Math.min(answeredUs, clock.nowUs + 400_000);
    };
    link.counters = () => {
      if (clock.nowUs >= answeredUs && link.bytes.downstreamReceivedBytes === 0) link.move(641, link.toxics.length > 0 ? 0 : 641);
      return Promise.resolve(link.bytes);
    };
    await hand.inject(new AbortController().signal);
    expect(await hand.prove()).toMatchObject({ landed: true, strikes: 1, unheardMessages: 500, observed: '1 of 1 strikes: 500 messages stored while armed, 641 B of answers dropped' });
  });

  test('hang: a connection counts its bytes when the toxic goes, which is soon after the message was stored', async () => {
    const targets = fakeTargets([new FakeRole('gateway-1')]);
    const link = targets.fakeLink('gateway-kafka');
    const { hand, clock } = begin('lose-produce-ack@n=1,mode=hang', targets);
    let armedUs = NaN;
    let tookUs = NaN;
    link.onChange = () => {
      if (link.toxics.length > 0) {
        targets.stored = 500;
        armedUs = clock.nowUs;
      }
    };
    const remove = link.removeToxic.bind(link);
    link.removeToxic = (name) => {
      if (link.toxics.length > 0) {
        tookUs = clock.nowUs - armedUs;
        link.move(641, 0);
      }
      return remove(name);
    };
    await hand.inject(new AbortController().signal);
    expect(await hand.prove()).toMatchObject({ landed: true, strikes: 1, unheardMessages: 500 });
    expect(tookUs).toBeLessThan(100_000);
  });

  test('after a try without a message the next one is armed at once', async () => {
    const targets = fakeTargets([new FakeRole('gateway-1')]);
    const link = targets.fakeLink('gateway-kafka');
    const { hand, clock } = begin('lose-produce-ack@n=1', targets);
    const producedUs = clock.nowUs + 2_500_000;
    let produced = false;
    link.counters = () => {
      if (!produced && clock.nowUs >= producedUs) {
        produced = true;
        if (link.toxics.length > 0) targets.stored = 500;
        link.move(641, link.toxics.length > 0 ? 0 : 641);
      }
      return Promise.resolve(link.bytes);
    };
    await hand.inject(new AbortController().signal);
    expect(await hand.prove()).toMatchObject({ landed: true, observed: '1 of 1 strikes: 500 messages stored while armed, 641 B of answers dropped; 1 try proved nothing: 1 without a message' });
  });

  test('a try whose message is answered is told, and one beside the scanner does not wait for an answer', async () => {
    const scanner = new FakeRole('scanner-1');
    const targets = fakeTargets([scanner]);
    const link = targets.fakeLink('gateway-kafka');
    const { hand, clock } = begin('lose-produce-ack@n=1', targets);
    let changes = 0;
    link.onChange = () => {
      changes += 1;
      targets.stored = changes <= 2 ? 1 : 0;
      if (changes === 2) scanner.steps = { 'scanner.before-resend': 1 };
    };
    const removedUs: number[] = [];
    const remove = link.removeToxic.bind(link);
    link.removeToxic = (name) => {
      removedUs.push(clock.nowUs);
      return remove(name);
    };
    const armedUs: number[] = [];
    const add = link.addToxic.bind(link);
    link.addToxic = (toxic) => {
      armedUs.push(clock.nowUs);
      return add(toxic);
    };
    await hand.inject(new AbortController().signal);
    expect((await hand.prove()).observed).toBe('0 of 1 strikes: 0 messages stored while armed, 0 B of answers dropped; 6 tries proved nothing: 1 beside a scanner that sends, 4 without a message, 1 whose answer was not seen lost');
    expect((removedUs[0] ?? 0) - (armedUs[0] ?? 0)).toBeGreaterThanOrEqual(2_000_000);
    expect((removedUs[1] ?? 0) - (armedUs[1] ?? 0)).toBeLessThan(100_000);
  });

  test('a strike during which the scanner resends is not counted', async () => {
    const scanner = new FakeRole('scanner-1');
    const targets = fakeTargets([scanner]);
    const link = targets.fakeLink('gateway-kafka');
    link.onChange = () => {
      targets.stored += 1;
      link.move(60, 0);
      scanner.steps = { 'scanner.before-resend': (scanner.steps['scanner.before-resend'] ?? 0) + 1 };
    };
    expect((await live('lose-produce-ack@n=1', targets)).proof).toMatchObject({ landed: false, strikes: 0 });
  });

  test('tries that prove nothing while the scanner is busy do not use up those of its quiet time', async () => {
    const scanner = new FakeRole('scanner-1');
    const targets = fakeTargets([scanner]);
    const link = targets.fakeLink('gateway-kafka');
    let changes = 0;
    link.onChange = () => {
      changes += 1;
      targets.stored += 1;
      link.move(60, 0);
      if (changes <= 60) scanner.steps = { 'scanner.before-resend': (scanner.steps['scanner.before-resend'] ?? 0) + 1 };
    };
    expect((await live('lose-produce-ack@n=2', targets)).proof).toMatchObject({ landed: true, strikes: 2 });
  });
});
