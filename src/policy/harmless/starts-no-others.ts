import { isHarmless } from './is-harmless.ts';

/**
 * Whether a command is known to start no other program, for any value of the unknown parts (`\0`)
 * of its words. It may change files. The program must be a known name without a path.
 */
export function startsNoOthers(words: readonly string[]): boolean {
  const [program = '', ...args] = words;
  if (NEVER_START.has(program)) return true;
  // The unknown text may be an option.
  if (args.some((arg) => arg.includes('\0'))) return false;
  return SPECIAL.get(program)?.(args) ?? isHarmless(words, { confined: true });
}

/**
 * With any arguments, these programs start no others. Not among the programs of coreutils: arch (on
 * macOS), chroot, env, nice, nohup, runcon, stdbuf and timeout, which run their arguments, and
 * install, sort and split, which have an option for that.
 */
const NEVER_START: ReadonlySet<string> = new Set(
  (
    ': b2sum base32 base64 basename basenc bzip2 cat cd chcon chgrp chmod chown cksum clear cmp column comm cp csplit cut date ' +
    'dd df dir dircolors dirname du echo egrep expand expr factor false fgrep fmt fold free grep groups gzip head hexdump hostid ' +
    'hostname iconv id join jq kill killall link ln logname ls md5sum mkdir mkfifo mknod mktemp mv nl nproc numfmt od paste pathchk ' +
    'pgrep pinky pkill pr printenv ps ptx pwd readlink realpath rev rm rmdir seq sha1sum sha224sum sha256sum sha384sum sha512sum ' +
    'shred shuf sleep stat strings stty sum sync tac tail tee touch tr true truncate tsort tty uname unexpand uniq unlink uptime ' +
    'users vdir wc who whoami xxd xz yes zstd'
  ).split(' '),
);

/** Conditions on the arguments of further programs. Here all words are certain. */
const SPECIAL: ReadonlyMap<string, (args: readonly string[]) => boolean> = new Map([
  ['break', isCount],
  ['continue', isCount],
  ['exit', isCount],
  ['return', isCount],
  ['shift', isCount],
  [
    'find',
    (args: readonly string[]) =>
      isHarmless(['find', ...args.filter((arg) => arg !== '-delete')], { confined: true }),
  ],
  // For -v, and for numbers in zsh, shells run code in a subscript.
  [
    'printf',
    ([format = '', ...args]: readonly string[]) =>
      !format.startsWith('-') && !args.some((arg) => arg.includes('[')),
  ],
  ['sed', startsNoOthersSed],
  [
    'set',
    (args: readonly string[]) =>
      args.every((arg) => /^(?:[-+][efux]*o?|errexit|noglob|nounset|pipefail|xtrace)$/.test(arg)),
  ],
]);

function isCount(args: readonly string[]): boolean {
  return args.length <= 1 && args.every((arg) => /^\d+$/.test(arg));
}

const SED_OPTION = /^(?:-[nErsuz]+|-n?i(?:\.\w+)?)$/;
/** Prints, deletes or replaces, without the flags `e`, which runs a command, and `w`. */
const SED_SCRIPT =
  /^(?:\d+|\$)?(?:,(?:\d+|\$))?(?:[pdq=]|s([/|,#@])(?:(?!\1)[^\n\\]|\\[^\n])*\1(?:(?!\1)[^\n\\]|\\[^\n])*\1[gIip\d]*)$/;

function startsNoOthersSed(args: readonly string[]): boolean {
  const at = args.findIndex((arg) => !SED_OPTION.test(arg));
  return (
    SED_SCRIPT.test(args[at] ?? '') && args.slice(at + 1).every((file) => !file.startsWith('-'))
  );
}
