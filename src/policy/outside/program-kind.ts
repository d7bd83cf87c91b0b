import { isHarmless } from '../harmless/is-harmless.ts';
import { allowsOptions, type OptionRules } from '../harmless/option-rules.ts';
import { plainGit } from './plain-git.ts';

/**
 * How a program uses the files that its arguments name. `looks`: reads and shows them, or creates
 * empty files. `writes`: changes the files at these paths. `git`: uses the repository of its
 * working directory. `unknown`: may run any of them as code.
 */
export type ProgramKind = 'looks' | 'writes' | 'git' | 'unknown';

/**
 * Returns the kind of a simple command. The program must be a known name without a path, with known
 * options.
 */
export function programKind(words: readonly string[]): ProgramKind {
  const [program = '', ...args] = words;
  if (program === 'git') return plainGit(args) === null ? 'unknown' : 'git';
  if (program === 'gh') return isPlainGh(args) ? 'git' : 'unknown';
  if (isHarmless(words, { confined: false }) || ONLY_PRINT.has(program)) return 'looks';
  const looks = LOOKS.get(program);
  if (looks !== undefined) return allowsOptions(args, looks) ? 'looks' : 'unknown';
  const writes = WRITES.get(program);
  return writes !== undefined && allowsOptions(args, writes) ? 'writes' : 'unknown';
}

/**
 * Whether a command of GitHub's client starts no program except git, and passes no options on to
 * git.
 */
function isPlainGh([subject = '', verb = '', ...args]: readonly string[]): boolean {
  return GH.get(subject)?.has(verb) === true && !args.includes('--');
}

const GH: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    auth: 'status',
    issue: 'close comment create edit list reopen status view',
    label: 'list',
    pr: 'checks close comment create diff edit list ready reopen review status view',
    release: 'list view',
    repo: 'list view',
    run: 'list rerun view watch',
    search: 'code commits issues prs repos',
    workflow: 'list view',
  }).map(([subject, verbs]) => [subject, new Set(verbs.split(' '))]),
);

/** With any arguments, these only print or wait. */
const ONLY_PRINT: ReadonlySet<string> = new Set(
  'arch free groups hostid nproc printenv ps sleep tty uptime w who'.split(' '),
);

const options = (short: string, long: string): OptionRules => ({
  short,
  long: new Set(long.split(' ')),
});

const LOOKS: ReadonlyMap<string, OptionRules> = new Map([
  ['touch', options('acm', 'no-create')],
  ['mkdir', options('pv', 'parents verbose')],
  ['md5sum', options('bct', 'check')],
  ['sha1sum', options('bct', 'check')],
  ['sha256sum', options('bct', 'check')],
]);

const WRITES: ReadonlyMap<string, OptionRules> = new Map([
  ['chmod', options('Rcfv+rwxXst', 'recursive changes quiet verbose')],
  [
    'cp',
    options(
      'aflLnPprRsTuv',
      'archive force no-clobber no-target-directory parents preserve recursive update verbose',
    ),
  ],
  ['ln', options('fnrsTv', 'force no-dereference no-target-directory relative symbolic verbose')],
  ['mv', options('fnTuv', 'force no-clobber no-target-directory update verbose')],
  ['rm', options('dfrRv', 'dir force recursive verbose')],
  ['rmdir', options('pv', 'parents verbose')],
  ['tee', options('a', 'append')],
]);
