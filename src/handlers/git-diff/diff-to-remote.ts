import type { GitDiffToRemoteResponse } from '../../protocol/generated/types.ts';
import { filterNames } from './safe-git-env.ts';

/** Runs a shell script with git in a sandbox. Resolves with its output; null: it failed, or printed too much. */
export type RunGit = (script: string, args: readonly string[], filters: readonly string[]) => Promise<string | null>;

/** How many branches of remotes are compared. */
const CANDIDATES_MAX = 30;
const SHA = /^[0-9a-f]{40,64}$/;

/** Git before 2.31 does not read the settings that keep it from starting programs. */
const CONFIG_KEYS = `[ "$(git config core.hooksPath)" = /dev/null ] || { echo 'it needs git 2.31 or later' >&2; exit 1; }
git config -z --name-only --list`;
const REFS = `git symbolic-ref -q --short HEAD || echo
git rev-parse -q --verify '@{upstream}^{commit}' || echo
git for-each-ref --count=2000 --sort=-committerdate '--format=%(objectname) %(refname:lstrip=3)' refs/remotes`;
const DISTANCES = `git rev-parse -q --verify HEAD >/dev/null || { echo 'it has no commit yet' >&2; exit 1; }
for sha; do git rev-list --count "$sha..HEAD" -- || exit; done`;

const FORMAT = '--no-color --binary --no-ext-diff --no-textconv --no-relative --src-prefix=a/ --dst-prefix=b/';
/** Submodules are compared by their commits: looking into one would run git with its configuration. */
const DIFF = `git diff ${FORMAT} --ignore-submodules=dirty --submodule=short "$1" -- || exit
git ls-files -z --others --exclude-standard | xargs -0 -n 1 git diff ${FORMAT} --no-index -- /dev/null 2>/dev/null
exit 0`;

/** Compares a working tree with the nearest commit that a remote is known to have. Null: there is none, or git fails. */
export async function diffToRemote(run: RunGit): Promise<GitDiffToRemoteResponse | null> {
  const keys = await run(CONFIG_KEYS, [], []);
  if (keys === null) return null;
  const filters = filterNames(keys.split('\0'));
  const refs = await run(REFS, [], filters);
  const candidates = refs === null ? [] : candidatesIn(refs);
  const distances = candidates.length === 0 ? null : await run(DISTANCES, candidates, filters);
  const sha = distances === null ? null : nearest(candidates, distances);
  const diff = sha === null ? null : await run(DIFF, [sha], filters);
  return sha === null || diff === null ? null : { sha, diff };
}

/** The commits of branches of remotes: first the upstream branch, unless that is a local one, the one of the same name and the main ones, then the latest others. */
function candidatesIn(refs: string): string[] {
  const [branch = '', upstream = '', ...lines] = refs.split('\n');
  const named = lines.flatMap((line): [sha: string, name: string][] => {
    const space = line.indexOf(' ');
    return space === -1 ? [] : [[line.slice(0, space), line.slice(space + 1)]];
  });
  const first = [branch, 'HEAD', 'main', 'master'].flatMap((name) => named.filter((each) => each[1] === name && name !== ''));
  const ofUpstream = named.filter(([sha]) => sha === upstream);
  const shas = [...ofUpstream, ...first, ...named].map(([sha]) => sha).filter((sha) => SHA.test(sha));
  return [...new Set(shas)].slice(0, CANDIDATES_MAX);
}

function nearest(candidates: readonly string[], distances: string): string | null {
  const counts = distances.trim().split('\n').map(Number);
  const least = Math.min(...counts);
  return candidates[counts.indexOf(least)] ?? null;
}
