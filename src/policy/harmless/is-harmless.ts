import type { ParsedCommand } from '../parse/parse-command.ts';
import { isHarmlessGit } from './is-harmless-git.ts';
import { allowsOptions, type OptionRules } from './option-rules.ts';

/**
 * Whether a command is known only to read. The program must be a known name without a path, and
 * every option must be known. The repository can change what git does, so git counts only if the
 * command is `confined` to reading.
 */
export function isHarmless(words: readonly string[], { confined }: { confined: boolean }): boolean {
  const [program = '', ...args] = words;
  if (program === 'git') return confined && isHarmlessGit(args);
  if (ONLY_READ.has(program)) return true;
  const options = OPTIONS.get(program);
  if (options !== undefined) return allowsOptions(args, options);
  return SPECIAL.get(program)?.(args) ?? false;
}

/** Whether every simple command of a line is known only to read: see `isHarmless`. */
export function onlyReads({ commands }: ParsedCommand, confined: boolean): boolean {
  return commands?.every(({ words }) => isHarmless(words, { confined })) ?? false;
}

/**
 * Whether a line only reads, and uses git for that. Reading with git needs no access beyond the
 * sandbox. Outside it, git may run programs that a repository names.
 */
export function readsWithGit(command: ParsedCommand): boolean {
  return onlyReads(command, true) && !onlyReads(command, false);
}

/** With any arguments, these only print, return a status, or change the folder. */
const ONLY_READ: ReadonlySet<string> = new Set(
  'basename cd cut df dirname echo false head id nl pwd tr true uname wc whoami'.split(' '),
);

const read = (short: string, long = '', operandsMax = Number.POSITIVE_INFINITY): OptionRules => ({
  short,
  long: new Set(long.split(' ')),
  operandsMax,
});

const OPTIONS: ReadonlyMap<string, OptionRules> = new Map([
  [
    'ls',
    read(
      'aAbBcCdfFgGhHiIklLmnNopqQrRsStTuUvwxXZ1',
      'all almost-all author color directory full-time group-directories-first human-readable inode recursive reverse size sort ' +
        'time time-style width',
    ),
  ],
  [
    'cat',
    read(
      'AbeEnstTuv',
      'show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting',
    ),
  ],
  ['tail', read('cnqvz0123456789+', 'bytes lines quiet silent verbose')],
  ['uniq', read('cdDfisuwz', 'count repeated ignore-case unique', 1)],
  [
    'sort',
    read(
      'bdfghiMnRrVkstuzcCm0123456789,.:',
      'ignore-leading-blanks ignore-case numeric-sort human-numeric-sort version-sort reverse key stable field-separator unique check',
    ),
  ],
  ['realpath', read('eLmPqsz')],
  ['readlink', read('efmnqsvz')],
  ['stat', read('cfLtx', 'format dereference terse printf')],
  ['file', read('bhiLkrs', 'brief mime mime-type mime-encoding')],
  [
    'du',
    read(
      '0aAbBcdDhHkLlmPsStx',
      'all apparent-size block-size total human-readable max-depth summarize exclude',
    ),
  ],
  ['tree', read('adDfFghiIJlLnpPqrstuv', 'dirsfirst gitignore noreport prune')],
  ['which', read('as')],
  [
    'diff',
    read(
      'abBcCdeEiInNqrstTuUwWxXyz0123456789',
      'brief unified side-by-side recursive color ignore-all-space ignore-space-change ignore-case new-file',
    ),
  ],
  ['cmp', read('bilns', '')],
  [
    'grep',
    read(
      'abcdDEefFGhHiIlLmnoqRrsTUvVwxyzABC0123456789P',
      'after-context basic-regexp before-context binary-files color colour context count exclude exclude-dir extended-regexp ' +
        'files-with-matches files-without-match fixed-strings ignore-case include invert-match line-number line-regexp max-count ' +
        'no-filename no-messages null only-matching perl-regexp quiet recursive regexp text with-filename word-regexp',
    ),
  ],
  [
    'rg',
    read(
      '.0AaBbCcdeEFfgHhIiLljMmNnoPpqrSsTtUuVvwx',
      'after-context before-context case-sensitive color colors column context count count-matches debug files ' +
        'files-with-matches files-without-match fixed-strings follow glob glob-case-insensitive heading hidden iglob ignore-case ' +
        'ignore-file invert-match json line-number line-regexp max-columns max-count max-depth max-filesize multiline ' +
        'multiline-dotall no-config no-filename no-heading no-ignore no-ignore-vcs no-line-number no-messages null only-matching ' +
        'passthru pcre2 quiet regexp replace smart-case sort sortr stats text threads trim type type-list type-not unrestricted ' +
        'vimgrep with-filename word-regexp',
    ),
  ],
]);

const SPECIAL: ReadonlyMap<string, (args: readonly string[]) => boolean> = new Map([
  [
    'find',
    (args: readonly string[]) =>
      args.every((arg) => !arg.startsWith('-') || FIND_WORDS.has(arg) || /^-\d+\w?$/.test(arg)),
  ],
  ['sed', isHarmlessSed],
  // `test -v` in bash, and numbers in zsh's `test`, run code in a subscript.
  [
    'test',
    ([kind = '', , ...more]: readonly string[]) =>
      /^-[defhLrswxz]$/.test(kind) && more.length === 0,
  ],
  [
    'command',
    ([kind, ...names]: readonly string[]) =>
      (kind === '-v' || kind === '-V') && names.every((name) => !name.startsWith('-')),
  ],
  [
    'date',
    (args: readonly string[]) =>
      args.every((arg) => arg.startsWith('+') || ['-u', '-I', '-R', '--utc'].includes(arg)),
  ],
]);

const FIND_WORDS: ReadonlySet<string> = new Set(
  (
    '-a -amin -and -anewer -atime -cmin -cnewer -ctime -daystart -depth -empty -executable -false -follow -group -iname -inum -ipath ' +
    '-iregex -links -ls -lname -maxdepth -mindepth -mmin -mount -mtime -name -newer -nogroup -not -nouser -o -or -path -perm -print ' +
    '-print0 -prune -quit -readable -regex -regextype -size -true -type -user -writable -xdev -H -L -P'
  ).split(' '),
);

/** Only `sed -n 1,5p file`: other scripts can write files and run programs. */
function isHarmlessSed([quiet, script, ...files]: readonly string[]): boolean {
  return (
    quiet === '-n' &&
    /^\d+(?:,(?:\d+|\$))?p$/.test(script ?? '') &&
    files.every((file) => !file.startsWith('-'))
  );
}
