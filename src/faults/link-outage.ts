/**
 * A store that roles cannot reach: every proxy between running roles and the store refuses. Shared by `pg-outage` and `redis-down`.
 *
 * Landed: each link refuses at both ends of the outage, connections with traffic were cut (their bytes were counted at the cut), and no
 * byte passed after that.
 */
import type { RoleName, StoreName } from '../domain/roles.js';
import { linkName } from '../domain/roles.js';
import type { LinkCounters, LinkTarget } from '../facts/targets.js';
import type { FaultInHand, FaultSurroundings, HealProof } from './fault.js';
import { byteList, countedBytes, seenOutage, settledCounters, until } from './observation.js';
import { rolesUsing, SERVER_OF } from './option-values.js';

const HEAL_BOUND_MS = 10_000;

interface Watched {
  readonly link: LinkTarget;
  readonly before: LinkCounters;
  afterCut?: LinkCounters;
  atEnd?: LinkCounters;
}

export function linkOutage(store: StoreName, lastsMs: number, onlyRole: RoleName | 'all', { targets, clock }: FaultSurroundings): FaultInHand {
  const roles = rolesUsing(store).filter((role) => targets.roles(role).length > 0 && (onlyRole === 'all' || role === onlyRole));
  const links = roles.map((role) => targets.link(linkName(role, store)));
  let watched: Watched[] = [];
  let refusedAtStart = false;
  let refusedAtEnd = false;
  let goneUs: number | null = null;
  let stillGoneUs: number | null = null;
  const allRefuse = async (): Promise<boolean> => (await Promise.all(links.map((link) => targets.witness.refuses(link.listen)))).every(Boolean);

  return {
    async inject(signal) {
      watched = await Promise.all(links.map(async (link) => ({ link, before: await link.counters() })));
      const endUs = clock.monoUs() + lastsMs * 1000;
      await Promise.all(links.map((link) => link.setEnabled(false)));
      refusedAtStart = await allRefuse();
      goneUs = clock.monoUs();
      await Promise.all(watched.map(async (row) => { row.afterCut = await settledCounters(clock, row.link); }));
      await clock.wait((endUs - clock.monoUs()) / 1000, signal);
      stillGoneUs = clock.monoUs();
      refusedAtEnd = await allRefuse();
      await Promise.all(watched.map(async (row) => { row.atEnd = await row.link.counters(); }));
    },

    async heal(): Promise<HealProof> {
      await Promise.all(links.map((link) => link.setEnabled(true)));
      const enabled = (await Promise.all(links.map((link) => link.isEnabled()))).every(Boolean);
      const accepts = await until(clock, HEAL_BOUND_MS, 50, async () => (await Promise.all(links.map((link) => targets.witness.refuses(link.listen)))).every((refused) => !refused));
      const answers = await until(clock, HEAL_BOUND_MS, 50, () => targets.witness.answers(SERVER_OF[store]));
      return {
        healed: enabled && accepts && answers,
        observed: `${String(links.length)} proxies ${enabled ? 'enabled' : 'NOT enabled'} and ${accepts ? 'accepting' : 'REFUSING'}; ${SERVER_OF[store]} ${answers ? 'answers' : 'DOES NOT ANSWER'}`,
      };
    },

    prove() {
      const cut = watched.map((row) => ({ name: row.link.name, bytes: row.afterCut === undefined ? 0 : countedBytes(row.before, row.afterCut) }));
      const passed = watched.map((row) => ({ name: row.link.name, bytes: row.afterCut === undefined || row.atEnd === undefined ? 0 : countedBytes(row.afterCut, row.atEnd) }));
      const landed = links.length > 0 && refusedAtStart && refusedAtEnd && cut.some((row) => row.bytes > 0) && passed.every((row) => row.bytes === 0);
      const observed =
        links.length === 0
          ? `no running role ${onlyRole === 'all' ? '' : `named ${onlyRole} `}uses ${store}`
          : `connections refused at the start: ${String(refusedAtStart)}, at the end: ${String(refusedAtEnd)}; bytes of the connections cut: ${byteList(cut)}; bytes during the outage: ${byteList(passed)}`;
      return Promise.resolve({ landed, observed, strikes: landed ? 1 : 0, hits: [], mayLose: null, ...seenOutage(goneUs, stillGoneUs) });
    },
  };
}
