import { allowsOptions, type OptionRules } from './option-rules.ts';

/**
 * Whether a git command only reads, judged by its arguments: no option before the subcommand, and
 * only known options after it. git may still run programs that the repository's configuration names
 * (a monitor, filters, drivers, hooks).
 */
export function isHarmlessGit([command = '', ...args]: readonly string[]): boolean {
  const options = COMMANDS.get(command);
  if (options === undefined || !allowsOptions(args, options)) return false;
  // With a name, `git branch` creates or changes a branch.
  return (
    command !== 'branch' || args.every((arg) => arg.startsWith('-') && arg !== '-' && arg !== '--')
  );
}

const DIFF_LONG =
  'abbrev binary cached check color color-words diff-algorithm diff-filter exit-code find-copies find-renames full-index ' +
  'function-context histogram ignore-all-space ignore-blank-lines ignore-space-at-eol ignore-space-change inter-hunk-context ' +
  'merge-base minimal name-only name-status no-color no-ext-diff no-index no-patch no-prefix no-renames no-textconv numstat ' +
  'patch patch-with-stat patience quiet raw shortstat staged stat summary unified word-diff';
const LOG_LONG =
  'abbrev-commit after all author before branches cherry-pick committer date decorate first-parent follow format full-history ' +
  'graph grep left-right max-count merges no-abbrev-commit no-decorate no-merges no-walk oneline parents pretty ' +
  'regexp-ignore-case relative-date remotes reverse since simplify-by-decoration skip source tags topo-order until walk-reflogs';

const rules = (short: string, long: string): OptionRules => ({
  short,
  long: new Set(long.split(' ')),
});

const COMMANDS: ReadonlyMap<string, OptionRules> = new Map([
  [
    'status',
    rules(
      'sbuvz',
      'ahead-behind branch column find-renames ignored long no-ahead-behind no-column no-renames porcelain short show-stash ' +
        'untracked-files verbose',
    ),
  ],
  ['diff', rules('abBCDMpRsuUwz0123456789', DIFF_LONG)],
  ['log', rules('abBCDgiLMnpRsuUwz0123456789', `${LOG_LONG} ${DIFF_LONG}`)],
  ['show', rules('abBCDMnpRsuUwz0123456789', `${LOG_LONG} ${DIFF_LONG}`)],
  ['branch', rules('arv', 'all color list no-color remotes show-current verbose')],
  [
    'rev-parse',
    rules(
      '',
      'abbrev-ref git-dir is-bare-repository is-inside-work-tree short show-prefix show-toplevel verify',
    ),
  ],
  ['ls-files', rules('cdmosuzt', 'cached deleted exclude-standard modified others stage unmerged')],
  ['blame', rules('cefLlnpstw', 'date line-porcelain porcelain')],
]);
