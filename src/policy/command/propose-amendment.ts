import { COMMAND_RUNNERS, INTERPRETERS } from '../parse/command-runners.ts';
import { programName } from '../parse/program-name.ts';
import type { CommandRequest } from './command-verdict.ts';

/**
 * With these programs, the words say too little about what the command does: it depends on other
 * files, or cannot be undone.
 */
const NEVER: ReadonlySet<string> = new Set([
  ...COMMAND_RUNNERS,
  ...'find fd fdfind rm rmdir dd sed shred chmod chown chgrp kill killall pkill mv tee truncate'.split(
    ' ',
  ),
]);
/** The next word decides what these programs do, so it must not be an option. */
const BY_SUBCOMMAND: ReadonlySet<string> = new Set(
  (
    'apt apt-get aws az brew bun cargo curl docker gcloud gh git go helm just kubectl make npm npx pip pip3 pnpm podman poetry ' +
    'systemctl tar terraform uv wget yarn'
  ).split(' '),
);
/**
 * With any arguments, these programs only print. They do not write files and do not run programs.
 */
const PRINT_ONLY: ReadonlySet<string> = new Set(
  (
    'b2sum base64 basename cat cksum cmp comm cut df dirname du echo expr factor false fold free grep head id join ls md5sum ' +
    'nl nproc numfmt od paste pgrep ps pwd readlink realpath rev seq sha1sum sha256sum sha512sum sleep stat strings sum tac tail ' +
    'tr true unexpand uname uptime wc whoami'
  ).split(' '),
);

/**
 * Returns the words that the user can allow permanently: all words of the command, or the prefix
 * that the model proposes if the program can only print. Returns null if the command is not fully
 * parsed or is not a single command, or if its words do not determine what it does.
 */
export function proposeAmendment({
  command,
  prefixRule,
}: Pick<CommandRequest, 'command' | 'prefixRule'>): readonly string[] | null {
  const [only, ...others] = command.commands ?? [];
  if (only === undefined || others.length > 0) return null;
  const { words } = only;
  if (prefixRule !== null && isOpenPrefix(prefixRule, words)) return prefixRule;
  return isDetermined(words) ? words : null;
}

/**
 * Whether the command begins with `prefix`, and a rule may allow `prefix` with any further words.
 */
export function isOpenPrefix(prefix: readonly string[], words: readonly string[]): boolean {
  const isBeginning =
    prefix.length > 0 &&
    prefix.length < words.length &&
    prefix.every((word, index) => word !== '' && word === words[index]);
  return isBeginning && PRINT_ONLY.has(prefix[0] ?? '');
}

function isDetermined(words: readonly string[]): boolean {
  const [program = '', second = ''] = words;
  const name = programName(program);
  // A rule cannot contain an empty word.
  if (words.includes('') || NEVER.has(name) || INTERPRETERS.test(name)) return false;
  return !BY_SUBCOMMAND.has(name) || !second.startsWith('-');
}
