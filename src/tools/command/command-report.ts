import type { KeptText } from './sessions/kept-text.ts';

/** About how many bytes of text a token is. */
export const BYTES_PER_TOKEN = 4;
/** How much of a command's output the model reads unless it says otherwise. */
export const OUTPUT_TOKENS_DEFAULT = 2500;

/** What a command has come to. */
export type CommandState = { exitCode: number } | { timedOutMs: number } | { sessionId: number };

interface Report {
  state: CommandState;
  wallMs: number;
  output: KeptText;
  tokensMax: number;
}

/** What the model reads of a command: how it ended or that it runs, and its output, without its middle where it is long. */
export function commandReport({ state, wallMs, output, tokensMax }: Report): string {
  const isCut = tokens(output.bytes) > tokensMax;
  const lines = isCut ? [`Total output lines: ${output.lines}`] : [];
  const text = output.text(Math.max(1, tokensMax) * BYTES_PER_TOKEN, (leftOut) => `\n[… about ${tokens(leftOut)} tokens left out …]\n`);
  return [
    `Wall time: ${(wallMs / 1000).toFixed(4)} seconds`,
    stateText(state),
    `Original token count: ${tokens(output.bytes)}`,
    ...lines,
    'Output:',
    text,
  ].join('\n');
}

function stateText(state: CommandState): string {
  if ('sessionId' in state) return `Process running with session ID ${state.sessionId}`;
  if ('timedOutMs' in state) return `Process killed: it took longer than ${state.timedOutMs} ms`;
  return `Process exited with code ${state.exitCode}`;
}

function tokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}
