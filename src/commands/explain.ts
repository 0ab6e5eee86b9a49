/**
 * `explain <dir> <id>`: the whole story of one unit, from the saved facts of a run: what its client was told, Redis, the topics, Inbox, tables, ledger, Outbox,
 * commit log, and what was broken meanwhile. Reads files only; nothing is written.
 */
import { resolve } from 'node:path';

import { ExitCode } from '../exit-codes.js';
import type { Facts } from '../facts/facts.js';
import { LabError } from '../facts/lab-error.js';
import type { BiographyLine } from '../facts/verdict.js';
import { biographyOf } from '../invariants/biography.js';
import { kindsOfId, reservationsOfToken, someIds, subjectOf, SUBJECT_KINDS, type SubjectKind } from '../invariants/find-subject.js';
import { readHistory } from '../load/read-history.js';
import { readFacts } from '../report/read-facts.js';
import type { CommandIo } from './command-io.js';

export interface ExplainOptions {
  readonly as?: string;
  readonly json?: boolean;
}

interface Chapter {
  readonly kind: SubjectKind;
  readonly id: string;
  readonly lines: readonly BiographyLine[];
}

/** Rejects with `LabError` NOT_A_RUN_FOLDER or USAGE (254) for an id that the run does not know, HARVEST_FAILED (2) when its facts were never saved. */
export async function runExplain(directory: string, id: string, options: ExplainOptions, io: CommandIo): Promise<number> {
  const kind = kindAsked(options.as);
  const facts = await readFacts(resolve(directory), readHistory);
  const chapters = chaptersOf(facts, id, kind);
  const absent = absentEvidence(facts);
  if (options.json === true) {
    for (const line of absent) io.stderr(`note: ${line}\n`);
    io.stdout(`${JSON.stringify({ schemaVersion: 1, scenario: facts.run.scenario, chapters }, null, 2)}\n`);
  } else {
    io.stdout(`${[...chapters.flatMap(inWords), ...absent.map((line) => `note: ${line}`)].join('\n')}\n`);
  }
  return ExitCode.green;
}

function kindAsked(text: string | undefined): SubjectKind | null {
  if (text === undefined) return null;
  const kind = SUBJECT_KINDS.find((each) => each === text);
  if (kind === undefined) throw new LabError('USAGE', `--as ${text}: there is no such kind of id`, `one of ${SUBJECT_KINDS.join(', ')}`);
  return kind;
}

function chaptersOf(facts: Facts, id: string, asked: SubjectKind | null): readonly Chapter[] {
  const kinds = kindsOfId(facts, id).filter((kind) => asked === null || kind === asked);
  if (kinds.length === 0) {
    const known = someIds(facts);
    throw new LabError('USAGE', `this run knows no ${asked ?? 'reservation, request, user, order, message or token'} ${id}`, known.length === 0 ? 'the run has no orders; look into its summary.md' : `ids that it knows: ${known.join(', ')}`);
  }
  return kinds.flatMap((kind) => {
    const own: Chapter = { kind, id, lines: biographyOf(facts, subjectOf(kind, id), Infinity) };
    if (kind !== 'token') return [own];
    // The story of a unit is that of everybody who had it, in turn.
    return [own, ...reservationsOfToken(facts, id).map((reservationId): Chapter => ({ kind: 'reservation', id: reservationId, lines: biographyOf(facts, subjectOf('reservation', reservationId), Infinity) }))];
  });
}

function inWords({ kind, id, lines }: Chapter): readonly string[] {
  const width = Math.max(0, ...lines.map((line) => line.source.length));
  return [`${kind} ${id}`, ...lines.map(({ at, source, text }) => `  ${(at ?? '').padEnd(27)} ${source.padEnd(width)}  ${text.replace(/\s*[\r\n]+\s*/g, ' ')}`), ''];
}

/** A story with a hole in it has to say so. */
function absentEvidence(facts: Facts): readonly string[] {
  const kinds = ['history', 'redis', 'kafka', 'postgres', 'commitLog', 'faults'] as const;
  const incomplete = facts.history.present && !facts.history.value.complete ? [`the client history is incomplete: ${facts.history.value.problems.join('; ') || 'no reason given'}`] : [];
  return [...incomplete, ...kinds.flatMap((kind) => {
    const evidence = facts[kind];
    return evidence.present ? [] : [`no evidence from ${kind}: ${evidence.reason}`];
  })];
}
