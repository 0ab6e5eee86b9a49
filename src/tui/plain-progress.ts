/**
 * Progress for pipes and CI logs: stages, faults and notes at once, figures at most once a second. The clock of the lines is the time of
 * the events themselves, so a replay of `events.ndjson` prints the same.
 */
import type { LabEvent, Progress } from '../facts/lab-event.js';
import { countInWords, outcomeInWords } from '../facts/verdict-in-words.js';
import type { Face } from './face.js';

const PROGRESS_EVERY_US = 1_000_000;

export function progressInWords(progress: Progress): string {
  const { offered, issued, decided, accepted, stockLeft, pending, consumerLag, orders } = progress;
  const figures = [['offered', offered], ['issued', issued], ['decided', decided], ['accepted', accepted], ['stock', stockLeft], ['pending', pending], ['lag', consumerLag], ['orders', orders]] as const;
  return figures.map(([name, value]) => `${name} ${countInWords(value)}`).join('  ');
}

function lineOf(event: LabEvent): string | null {
  switch (event.kind) {
    case 'stage': return `${event.stage}${event.state === 'begin' ? ' …' : ' done'}`;
    case 'note': return event.text;
    case 'fault': return `fault ${event.id} ${event.state}: ${event.text}`;
    // Starts and readiness are many and expected; an exit is worth a line.
    case 'role': return event.state === 'exited' ? `${event.instance} exited: ${event.text}` : null;
    case 'progress': return progressInWords(event.progress);
    case 'verdict': return `verdict ${outcomeInWords(event.verdict.outcome)}`;
  }
}

/** The lines an event makes; keeps when it last told progress. */
export function plainLines(): (event: LabEvent) => readonly string[] {
  let firstUs: number | null = null;
  let toldUs = Number.NEGATIVE_INFINITY;
  return (event) => {
    firstUs ??= event.atUs;
    if (event.kind === 'progress') {
      if (event.atUs - toldUs < PROGRESS_EVERY_US) return [];
      toldUs = event.atUs;
    }
    const line = lineOf(event);
    if (line === null) return [];
    const seconds = `${Math.max(0, (event.atUs - firstUs) / 1_000_000).toFixed(1)}s`.padStart(7);
    return line.split(/\r?\n/).map((part) => `${seconds}  ${part}`);
  };
}

export function startPlainFace(write: (text: string) => void): Face {
  const linesOf = plainLines();
  return {
    name: 'plain',
    listen(event) {
      for (const line of linesOf(event)) write(`${line}\n`);
    },
    stop() {
      // Nothing is held.
    },
  };
}
