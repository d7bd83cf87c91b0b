import type { CommandRules } from '../../policy/command-rules.ts';
import type { CommandSituation, CommandVerdict } from '../../policy/command-verdict.ts';
import type { ParsedCommand } from '../../policy/parse-command.ts';
import type { CommandAction } from '../../protocol/generated/types.ts';

/** What decides about commands: what they are, and what may become of them. */
export interface CommandPolicy {
  parse(argv: readonly string[]): Promise<ParsedCommand>;
  actions(command: ParsedCommand, cwd: string): CommandAction[];
  judge(situation: CommandSituation): CommandVerdict;
  /** Tells a command in a folder from every other. */
  key(command: ParsedCommand, cwd: string): string;
  /** As the rules' files have them now. */
  rules(): Promise<CommandRules>;
  /** Adds a rule that allows what begins so. */
  allow(prefix: readonly string[]): Promise<void>;
}
