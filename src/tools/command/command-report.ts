import { charsOfTokens, estimateTokens } from '../../base/text/estimate-tokens.ts';
import type { KeptText } from './sessions/kept-text.ts';

/**
 * The state of a command: exited, killed after its time limit in milliseconds, or running as a
 * session.
 */
export type CommandState = { exitCode: number } | { timedOutMs: number } | { sessionId: number };

interface Report {
  state: CommandState;
  wallMs: number;
  output: KeptText;
  /** Lines of the server about the command. */
  told: readonly string[];
  tokensMax: number;
}

/**
 * The report of a command for the model: its state and its output. Output over `tokensMax` is
 * truncated in the middle.
 */
export function commandReport({ state, wallMs, output, told, tokensMax }: Report): string {
  const isCut = tokens(output.bytes) > tokensMax;
  const lines = isCut ? [`Total output lines: ${output.lines}`] : [];
  const text = output.text(
    charsOfTokens(Math.max(1, tokensMax)),
    (leftOut) => `\n[… about ${tokens(leftOut)} tokens truncated …]\n`,
  );
  return [
    `Wall time: ${(wallMs / 1000).toFixed(4)} seconds`,
    stateText(state),
    `Original token count: ${tokens(output.bytes)}`,
    ...lines,
    ...told,
    'Output:',
    text,
  ].join('\n');
}

function stateText(state: CommandState): string {
  if ('sessionId' in state) return `Process running with session ID ${state.sessionId}`;
  if ('timedOutMs' in state) return `Process killed: it timed out after ${state.timedOutMs} ms`;
  return `Process exited with code ${state.exitCode}`;
}

function tokens(bytes: number): number {
  return Math.ceil(estimateTokens(bytes));
}
