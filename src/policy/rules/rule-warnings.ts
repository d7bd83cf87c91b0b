import type { ConfigWarningNotification } from '../../protocol/generated/types.ts';
import type { CommandRules } from './command-rules.ts';

/** Returns a warning for clients for each problem in the rules. */
export function ruleWarnings({ problems }: CommandRules): ConfigWarningNotification[] {
  return problems.map(({ path, line, message }) => ({
    summary: `invalid rules: ${path}${line === null ? '' : `:${line}`}: ${message}`,
    details:
      'Until you correct it, every command needs approval. Commands are refused if the approval policy does not allow the server to ask.',
    path,
    range: line === null ? null : { start: { line, column: 1 }, end: { line, column: 1 } },
  }));
}
