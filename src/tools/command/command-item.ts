import { quoteWords } from '../../policy/parse/quote-words.ts';
import type { CommandAction } from '../../protocol/generated/types.ts';
import type { CommandItem } from './sessions/shown-command.ts';

interface CommandFacts {
  id: string;
  argv: readonly string[];
  cwd: string;
  processId: string | null;
  source: NonNullable<CommandItem['source']>;
  actions: CommandAction[];
}

/** The item of a command as it begins. */
export function commandItem({
  id,
  argv,
  cwd,
  processId,
  source,
  actions,
}: CommandFacts): CommandItem {
  return {
    type: 'commandExecution',
    id,
    command: quoteWords(argv),
    cwd,
    processId,
    source,
    status: 'inProgress',
    commandActions: actions,
    aggregatedOutput: null,
    exitCode: null,
    durationMs: null,
    pluginId: null,
    scriptPath: null,
  };
}
