/**
 * A server that is cut off from its network: nothing that is sent to it arrives, nobody is told, and connections stay open on both sides. In containers the engine takes it
 * off their network, so that the lab's direct connections end too; a local server is cut off by its proxies. Shared by `pg-outage`, `redis-down` and `broker-outage`.
 *
 * Landed: it was seen unplugged at both ends of the outage, and over the link of each running role a conversation that was answered before was not answered until the end.
 */
import type { StoreName } from '../domain/roles.js';
import { linkName } from '../domain/roles.js';
import type { LinkProbe, LinkTarget, Witness } from '../facts/targets.js';
import type { FaultInHand, FaultSurroundings } from './fault.js';
import { seenOutage, until } from './observation.js';
import { rolesUsing, SERVER_OF } from './option-values.js';

const HEAL_BOUND_MS = 15_000;

interface Conversation {
  readonly link: LinkTarget;
  readonly probe: LinkProbe;
  answered: boolean;
}

export function serverUnplug(store: StoreName, lastsMs: number, { targets, clock }: FaultSurroundings): FaultInHand {
  const target = targets.server(SERVER_OF[store]);
  const links = rolesUsing(store).filter((role) => targets.roles(role).length > 0).map((role) => targets.link(linkName(role, store)));
  const conversations: Conversation[] = [];
  const unplugged: boolean[] = [];
  let answeredAtEnd: readonly string[] = [];
  let goneUs: number | null = null;
  let stillGoneUs: number | null = null;

  return {
    async inject(signal) {
      conversations.push(...(await Promise.all(links.map(async (link) => ({ link, probe: await beginTalk(targets.witness, link, store), answered: false })))));
      const endUs = clock.monoUs() + lastsMs * 1000;
      await target.unplug();
      goneUs = clock.monoUs();
      unplugged.push(await target.isUnplugged());
      // A connection that ends is no answer either.
      for (const conversation of conversations) conversation.probe.exchange(1, lastsMs).then(() => (conversation.answered = true), () => undefined);
      await clock.wait((endUs - clock.monoUs()) / 1000, signal);
      stillGoneUs = clock.monoUs();
      unplugged.push(await target.isUnplugged());
      answeredAtEnd = conversations.filter(({ answered }) => answered).map(({ link }) => link.name);
    },
    async heal() {
      await target.plugIn();
      const isUnplugged = await target.isUnplugged();
      await Promise.all(conversations.map(({ probe }) => probe.end()));
      const answers = await until(clock, HEAL_BOUND_MS, 50, async () => (await targets.witness.answers(SERVER_OF[store])) && (await Promise.all(links.map((link) => answersOver(targets.witness, link, store)))).every(Boolean));
      return { healed: !isUnplugged && answers, observed: `${target.name} ${isUnplugged ? 'is STILL UNPLUGGED' : 'is plugged in'} and ${answers ? 'answers' : 'DOES NOT ANSWER'} over ${String(links.length)} links` };
    },
    prove() {
      const landed = links.length > 0 && unplugged.length === 2 && unplugged.every(Boolean) && answeredAtEnd.length === 0;
      const seen = unplugged.map((was) => (was ? 'unplugged' : 'PLUGGED IN')).join(', at the end ') || 'never';
      const observed = links.length === 0 ? `no running role uses ${store}` : `${target.name} seen ${seen}; of ${String(links.length)} conversations over its links ${answeredAtEnd.length === 0 ? 'none was answered' : `ANSWERED: ${answeredAtEnd.join(', ')}`}`;
      return Promise.resolve({ landed, observed, strikes: landed ? 1 : 0, hits: [], mayLose: null, ...seenOutage(goneUs, stillGoneUs) });
    },
  };
}

/** One that has been answered once. */
async function beginTalk(witness: Witness, link: LinkTarget, store: StoreName): Promise<LinkProbe> {
  const probe = await witness.probe(link.listen, store);
  await probe.exchange(1, 0);
  return probe;
}

async function answersOver(witness: Witness, link: LinkTarget, store: StoreName): Promise<boolean> {
  try {
    await (await beginTalk(witness, link, store)).end();
    return true;
  } catch {
    return false;
  }
}
