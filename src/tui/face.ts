/** What shows a run while it goes on. It listens and never answers back: a face that fails must not change a run. */
import type { LabEventListener } from '../facts/lab-event.js';

export interface Face {
  readonly name: 'ink' | 'plain';
  readonly listen: LabEventListener;
  /** Draws the last state and lets go of the terminal. May be called twice. */
  stop(): void;
}
