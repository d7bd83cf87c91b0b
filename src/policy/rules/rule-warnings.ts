import type { ConfigWarningNotification } from '../../protocol/generated/types.ts';
import type { CommandRules } from './command-rules.ts';

/** What a client should know of rules that cannot be read. */
export function ruleWarnings({ problems }: CommandRules): ConfigWarningNotification[] {
  return problems.map(({ path, line, message }) => ({
    summary: `invalid rules: ${path}${line === null ? '' : `:${line}`}: ${message}`,
    details: 'Every command is asked about until it is corrected, and refused where nobody is asked.',
    path,
    range: line === null ? null : { start: { line, column: 1 }, end: { line, column: 1 } },
  }));
}
