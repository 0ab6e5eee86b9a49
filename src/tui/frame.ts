/**
 * The live picture as lines of text with a tone, clipped to the terminal. Pure, so that it is tested as text.
 *
 * A frame is never as tall as the terminal: Ink then clears the whole terminal for every frame and wipes the reader's scrollback.
 */
import type { RunOutcome } from '../facts/verdict.js';
import { countInWords, outcomeInWords } from '../facts/verdict-in-words.js';
import type { FaultState, FaultView, RunView, StageView } from './view-model.js';

export type Tone = 'plain' | 'title' | 'good' | 'bad' | 'warn' | 'dim';

export interface FrameLine {
  readonly tone: Tone;
  readonly text: string;
}

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

const BAR_WIDTH = 24;

export function toneOfOutcome(outcome: RunOutcome): Tone {
  return outcome === 'green' ? 'good' : outcome === 'violated' ? 'bad' : 'warn';
}

const TONE_OF_FAULT: Readonly<Record<FaultState, Tone>> = { armed: 'warn', landed: 'bad', 'not-landed': 'bad', healed: 'good', 'not-healed': 'bad' };

function stageText(stage: StageView, nowUs: number): string {
  const mark = { waiting: '·', running: '▸', done: '✓' }[stage.state];
  const seconds = stage.beganUs === null ? 0 : Math.floor(((stage.endedUs ?? nowUs) - stage.beganUs) / 1_000_000);
  // Nine stages have to fit into 80 columns: whole seconds only.
  return `${mark}${stage.name}${seconds < 1 ? '' : ` ${String(seconds)}s`}`;
}

/** `████████────────`: how much of the whole. */
export function barOf(part: number, whole: number): string {
  const share = whole <= 0 ? 0 : Math.min(1, Math.max(0, part / whole));
  const filled = Math.round(share * BAR_WIDTH);
  return '█'.repeat(filled) + '─'.repeat(BAR_WIDTH - filled);
}

function progressLines(view: RunView): FrameLine[] {
  const progress = view.progress;
  if (progress === null) return [];
  const { issued, scheduled, offered, decided, accepted, stockLeft, orders, consumerLag, pending } = progress;
  return [
    { tone: 'plain', text: `load    ${barOf(issued, scheduled)} issued ${countInWords(issued)} of ${countInWords(scheduled)}` },
    { tone: offered > issued ? 'warn' : 'plain', text: `clients offered ${countInWords(offered)} · issued ${countInWords(issued)} · decided ${countInWords(decided)} · accepted ${countInWords(accepted)}` },
    { tone: 'plain', text: `stores  stock left ${countInWords(stockLeft)} · pending ${countInWords(pending)} · lag ${countInWords(consumerLag)} · orders ${countInWords(orders)}` },
  ];
}

function faultLine(fault: FaultView): FrameLine {
  const strikes = fault.strikes > 1 ? ` ×${String(fault.strikes)}` : '';
  return { tone: TONE_OF_FAULT[fault.state], text: `fault   ${fault.id} ${fault.state}${strikes}  ${fault.text}` };
}

/** Cuts at the width in code points, with a mark where something is missing. One line stays one line. Ink cuts again by display width. */
export function clip(text: string, columns: number): string {
  const flat = text.replace(/\s*[\r\n]+\s*/g, ' ');
  const characters = Array.from(flat);
  return characters.length <= columns ? flat : `${characters.slice(0, Math.max(0, columns - 1)).join('')}…`;
}

function clipList(lines: readonly FrameLine[], room: number): readonly FrameLine[] {
  if (lines.length <= room) return lines;
  if (room <= 0) return [];
  // The newest ones matter; one line is spent on saying that there are more.
  const kept = lines.slice(lines.length - (room - 1));
  return [{ tone: 'dim', text: `… and ${String(lines.length - kept.length)} more` }, ...kept.slice(0, room - 1)];
}

/** At most `rows − 1` lines of at most `columns` characters. What does not fit goes in this order: notes, faults, progress, stages. */
export function frameOf(view: RunView, title: string, size: TerminalSize): readonly FrameLine[] {
  const height = Math.max(1, size.rows - 1);
  const head: FrameLine[] = [
    { tone: 'title', text: title },
    { tone: 'plain', text: view.stages.map((stage) => stageText(stage, view.nowUs)).join(' ') },
    ...progressLines(view),
    { tone: view.roleExits > 0 ? 'warn' : 'dim', text: `roles   ${String(view.rolesReady)} made ready · ${String(view.roleExits)} exits` },
  ];
  const verdict = view.verdict === null ? [] : [{ tone: toneOfOutcome(view.verdict.outcome), text: `${outcomeInWords(view.verdict.outcome)}: ${view.verdict.headline}` }];
  const top = head.slice(0, Math.max(0, height - verdict.length));
  const faults = clipList(view.faults.map(faultLine), height - top.length - verdict.length);
  const notes = view.notes.map((text): FrameLine => ({ tone: 'dim', text: `note    ${text}` }));
  const room = height - top.length - verdict.length - faults.length;
  const lines = [...top, ...faults, ...(room > 0 ? notes.slice(-room) : []), ...verdict];
  return lines.slice(0, height).map((line) => ({ tone: line.tone, text: clip(line.text, size.columns) }));
}
