import { COMMAND_RUNNERS, INTERPRETERS } from '../command/command-runners.ts';
import type { ParsedCommand } from '../command/parse-command.ts';
import { programName } from '../command/program-name.ts';

/** With these programs, a longer command with the same prefix may do anything. */
const NEVER: ReadonlySet<string> = new Set([
  ...COMMAND_RUNNERS,
  ...'find fd fdfind rm rmdir dd shred chmod chown chgrp kill killall pkill mv tee truncate'.split(' '),
]);
/** The next word decides what these programs do, as with interpreters. */
const BY_SUBCOMMAND: ReadonlySet<string> = new Set(
  (
    'apt apt-get aws az brew bun cargo curl docker gcloud gh git go helm just kubectl make npm npx pip pip3 pnpm podman poetry sed ' +
    'systemctl tar terraform uv wget yarn'
  ).split(' '),
);

/**
 * Returns the command prefix that the user can allow permanently, together with this command: the prefix that the model
 * proposes, else all words of the command. Returns null if the command is not fully parsed or is not a single command, or if
 * the prefix would allow too much.
 */
export function proposeAmendment({ commands }: ParsedCommand, proposed: readonly string[] | null): readonly string[] | null {
  const [command, ...others] = commands ?? [];
  if (command === undefined || others.length > 0) return null;
  const { words } = command;
  const isPrefix = proposed !== null && proposed.length > 0 && proposed.every((word, index) => word === words[index]);
  return [...(isPrefix ? [proposed] : []), words].find(isNarrow) ?? null;
}

function isNarrow(words: readonly string[]): boolean {
  const [program = '', second = '-'] = words;
  const name = programName(program);
  if (name === '' || NEVER.has(name)) return false;
  return !(INTERPRETERS.test(name) || BY_SUBCOMMAND.has(name)) || !second.startsWith('-');
}
