/** Lab events folded into the one state that every face shows. Pure; the faces only draw it. */
import { STAGES, type LabEvent, type Progress, type StageName } from '../facts/lab-event.js';
import type { RunVerdict } from '../facts/verdict.js';

export type StageState = 'waiting' | 'running' | 'done';
export type FaultState = Extract<LabEvent, { readonly kind: 'fault' }>['state'];

export interface FaultView {
  readonly id: string;
  readonly state: FaultState;
  /** How many events of `landed` came; a fault that strikes fifty times stays one line. */
  readonly strikes: number;
  readonly text: string;
}

export interface StageView {
  readonly name: StageName;
  readonly state: StageState;
  readonly beganUs: number | null;
  readonly endedUs: number | null;
}

export interface RunView {
  readonly stages: readonly StageView[];
  readonly progress: Progress | null;
  readonly faults: readonly FaultView[];
  readonly rolesReady: number;
  /** Exits of role processes seen so far, wanted or not. */
  readonly roleExits: number;
  /** The last few notes, oldest first. */
  readonly notes: readonly string[];
  readonly verdict: RunVerdict | null;
  /** Time of the newest event; 0 before the first. */
  readonly nowUs: number;
}

const NOTES_KEPT = 5;

export const EMPTY_VIEW: RunView = {
  stages: STAGES.map((name) => ({ name, state: 'waiting', beganUs: null, endedUs: null })),
  progress: null,
  faults: [],
  rolesReady: 0,
  roleExits: 0,
  notes: [],
  verdict: null,
  nowUs: 0,
};

function foldStage(stages: readonly StageView[], event: Extract<LabEvent, { kind: 'stage' }>): readonly StageView[] {
  return stages.map((stage) => {
    if (stage.name !== event.stage) return stage;
    return event.state === 'begin'
      ? { ...stage, state: 'running' as const, beganUs: event.atUs, endedUs: null }
      : { ...stage, state: 'done' as const, endedUs: event.atUs };
  });
}

function foldFault(faults: readonly FaultView[], event: Extract<LabEvent, { kind: 'fault' }>): readonly FaultView[] {
  const known = faults.find((fault) => fault.id === event.id);
  const strikes = (known?.strikes ?? 0) + (event.state === 'landed' ? 1 : 0);
  const next: FaultView = { id: event.id, state: event.state, strikes, text: event.text };
  return known === undefined ? [...faults, next] : faults.map((fault) => (fault === known ? next : fault));
}

/** The state after the event. The old state is not touched. */
export function foldEvent(view: RunView, event: LabEvent): RunView {
  const seen = { ...view, nowUs: Math.max(view.nowUs, event.atUs) };
  switch (event.kind) {
    case 'stage': return { ...seen, stages: foldStage(view.stages, event) };
    case 'note': return { ...seen, notes: [...view.notes, event.text].slice(-NOTES_KEPT) };
    case 'progress': return { ...seen, progress: event.progress };
    case 'fault': return { ...seen, faults: foldFault(view.faults, event) };
    case 'role': return { ...seen, rolesReady: view.rolesReady + (event.state === 'ready' ? 1 : 0), roleExits: view.roleExits + (event.state === 'exited' ? 1 : 0) };
    case 'verdict': return { ...seen, verdict: event.verdict };
  }
}
