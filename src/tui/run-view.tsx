/** A frame drawn by Ink. Without state or hooks: whoever renders it decides how often. */
import { Box, Text } from 'ink';
import type { ReactElement } from 'react';

import { frameOf, type TerminalSize, type Tone } from './frame.js';
import type { RunView as RunViewModel } from './view-model.js';

const STYLE_OF: Readonly<Record<Tone, { readonly color?: string; readonly bold?: boolean; readonly dimColor?: boolean }>> = {
  plain: {},
  title: { bold: true },
  good: { color: 'green' },
  bad: { color: 'red' },
  warn: { color: 'yellow' },
  dim: { dimColor: true },
};

export interface RunViewProps {
  readonly view: RunViewModel;
  readonly title: string;
  readonly size: TerminalSize;
}

export function RunView({ view, title, size }: RunViewProps): ReactElement {
  return (
    <Box flexDirection="column">
      {frameOf(view, title, size).map((line, index) => (
        // Lines have no identity; their place is all there is.
        <Text key={index} wrap="truncate" {...STYLE_OF[line.tone]}>{line.text === '' ? ' ' : line.text}</Text>
      ))}
    </Box>
  );
}
