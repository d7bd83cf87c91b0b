import { allowsOptions, type OptionRules } from '../harmless/option-rules.ts';

/** The effects of a plain git command on its repository. */
export interface GitUse {
  /** Whether git may also run in the submodules that the index names, and so use their settings. */
  entersSubmodules: boolean;
  /**
   * Whether it makes a commit. If there is nothing to commit, git shows the state of the working
   * tree, and so enters submodules.
   */
  commits: boolean;
  /** The remotes that it names. Only the names of configured remotes are certain. */
  remotes: readonly string[];
}

/** For a program that uses git in unknown ways. */
export const UNKNOWN_USE: GitUse = { entersSubmodules: true, commits: true, remotes: [] };

/**
 * Returns the effects of a git command whose arguments start no program: it has no option before
 * the subcommand, a known subcommand, and only options that name neither a program nor another
 * repository. Returns null for all others. The user's settings, the repository's settings and its
 * hooks can still start programs.
 */
export function plainGit([subcommand = '', ...args]: readonly string[]): GitUse | null {
  const known = SUBCOMMANDS.get(subcommand);
  if (known === undefined || !allowsOptions(args, known) || args.includes('--no-index'))
    return null;
  if (known.isWithout?.some((word) => args.includes(word))) return null;
  const [remote] = known.namesRemote === true ? args.filter((arg) => !arg.startsWith('-')) : [];
  return {
    entersSubmodules:
      known.entersSubmodules === true || (subcommand === 'commit' && looksAtFiles(args)),
    commits: subcommand === 'commit',
    remotes: remote === undefined ? [] : [remote],
  };
}

/**
 * Whether a commit may examine the files of the working tree: to add them, or to show their state
 * in an editor. Returns false only if the command has a message, replaces no commit, and commits
 * the whole index.
 */
function looksAtFiles(args: readonly string[]): boolean {
  const hasMessage = args.some(
    (arg) => /^-[a-zA-Z]*[mF]/.test(arg) || /^--(?:message|file|fixup)\b/.test(arg),
  );
  const values = args.filter((arg) =>
    /^-[a-zA-Z]*[mF]$|^--(?:message|file|author|date|fixup)$/.test(arg),
  ).length;
  const operands = args.filter((arg) => !arg.startsWith('-')).length;
  return (
    !hasMessage ||
    operands !== values ||
    args.some((arg) => /^-[a-zA-Z]*a|^--(?:all|amend)$|^--$/.test(arg))
  );
}

interface Subcommand extends OptionRules {
  entersSubmodules?: true;
  namesRemote?: true;
  /** Operands with which the subcommand does something else. */
  isWithout?: readonly string[];
}

type Traits = Omit<Subcommand, keyof OptionRules>;

const known = (short: string, long: string, traits: Traits = {}): Subcommand => ({
  short,
  long: new Set(long.split(' ')),
  ...traits,
});

const ENTERS: Traits = { entersSubmodules: true };
const DIFF =
  'abbrev cached color diff-filter exit-code find-renames ignore-all-space ignore-blank-lines ignore-space-change merge-base minimal ' +
  'name-only name-status no-color no-ext-diff no-patch no-renames no-textconv numstat patch quiet raw shortstat staged stat summary ' +
  'unified word-diff';
const LOG =
  'abbrev-commit after all author before branches date decorate first-parent follow format graph grep left-right max-count merges ' +
  'no-decorate no-merges oneline pretty reverse since skip tags topo-order until';

const SUBCOMMANDS: ReadonlyMap<string, Subcommand> = new Map([
  [
    'add',
    known(
      'ANfnuv',
      'all force ignore-errors ignore-removal intent-to-add no-all dry-run update verbose',
      ENTERS,
    ),
  ],
  ['blame', known('eflLnpstw', 'date line-porcelain porcelain')],
  [
    'branch',
    known(
      'adDfmMrv',
      'all color delete force list merged move no-color no-merged quiet remotes show-current verbose',
    ),
  ],
  ['checkout', known('bBfq', 'detach force quiet no-track', ENTERS)],
  [
    'commit',
    known(
      'aFmnqs',
      'all allow-empty allow-empty-message amend author date file fixup message no-edit no-status no-verify quiet signoff',
    ),
  ],
  ['describe', known('', 'abbrev all always contains exact-match long match tags')],
  ['diff', known('bBCDMpRsuUwz0123456789', DIFF, ENTERS)],
  [
    'fetch',
    known('apqtv', 'all depth force no-tags prune quiet tags unshallow verbose', {
      ...ENTERS,
      namesRemote: true,
    }),
  ],
  ['log', known('giLMnpRsuUwz0123456789', `${LOG} ${DIFF}`)],
  ['ls-files', known('cdmosuzt', 'cached deleted exclude-standard modified others stage unmerged')],
  ['merge', known('mqs', 'abort ff ff-only message no-commit no-edit no-ff quiet squash', ENTERS)],
  ['mv', known('fknv', 'dry-run force verbose', ENTERS)],
  [
    'pull',
    known('fpqrtv', 'all ff ff-only no-edit no-rebase no-tags prune quiet rebase tags verbose', {
      ...ENTERS,
      namesRemote: true,
    }),
  ],
  [
    'push',
    known(
      'dfnquv',
      'all delete dry-run follow-tags force force-with-lease no-verify porcelain progress quiet set-upstream tags verbose',
      {
        namesRemote: true,
      },
    ),
  ],
  [
    'remote',
    known('v', 'verbose', {
      isWithout: [
        'add',
        'set-url',
        'rename',
        'update',
        'prune',
        'show',
        'set-head',
        'set-branches',
      ],
    }),
  ],
  ['reset', known('NqS', 'hard keep merge mixed quiet soft', ENTERS)],
  ['restore', known('qsSW', 'quiet source staged worktree', ENTERS)],
  [
    'rev-parse',
    known(
      '',
      'abbrev-ref git-dir is-bare-repository is-inside-work-tree short show-prefix show-toplevel verify',
    ),
  ],
  ['rm', known('fnqr', 'cached dry-run force quiet', ENTERS)],
  ['show', known('MnpRsuUwz0123456789', `${LOG} ${DIFF}`)],
  ['stash', known('kmqu', 'include-untracked keep-index message quiet', ENTERS)],
  [
    'status',
    known(
      'sbuvz',
      'ahead-behind branch column ignored long no-ahead-behind no-column porcelain short show-stash untracked-files verbose',
      ENTERS,
    ),
  ],
  ['switch', known('cCdfq', 'create detach discard-changes force quiet no-track', ENTERS)],
  ['tag', known('adflmn', 'annotate delete force list message sort')],
]);
