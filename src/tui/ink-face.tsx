/**
 * The live view: one Ink instance on stderr, drawn again at most three times a second. The view lives in the lab's own process, never
 * in a gateway or the generator, since drawing fast costs a third of a core.
 */
import { render } from 'ink';
import type { WriteStream } from 'node:tty';

import type { Face } from './face.js';
import { holdFirstSignal } from './hold-signals.js';
import { RunView } from './run-view.js';
import { EMPTY_VIEW, foldEvent } from './view-model.js';

const TICK_MS = 350;

export function startInkFace(terminal: WriteStream, title: string): Face {
  let view = EMPTY_VIEW;
  let drawn = view;
  const picture = (): React.ReactElement => <RunView view={view} title={title} size={{ columns: terminal.columns || 80, rows: terminal.rows || 24 }} />;
  const letGo = holdFirstSignal();
  // exitOnCtrlC and stdin stay out of it: the lab heals and tears down on SIGINT, and raw mode would swallow it.
  const instance = render(picture(), { stdout: terminal, stderr: terminal, exitOnCtrlC: false, patchConsole: false });
  const tick = setInterval(() => {
    if (drawn === view) return;
    drawn = view;
    instance.rerender(picture());
  }, TICK_MS);
  tick.unref();
  let stopped = false;
  return {
    name: 'ink',
    listen(event) {
      view = foldEvent(view, event);
    },
    stop() {
      if (stopped) return;
      stopped = true;
      clearInterval(tick);
      instance.rerender(picture());
      instance.unmount();
      letGo();
    },
  };
}
