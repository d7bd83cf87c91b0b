import { canSwitchOff, filterNames, OBEYS_SETTINGS } from '../../git/safe-git-env.ts';
import type { GitDiffToRemoteResponse } from '../../protocol/generated/types.ts';

/**
 * Runs a shell script with git in a sandbox, in which it can write only to $TMPDIR. Resolves with
 * its output; null: it failed, or printed too much.
 */
export type RunGit = (
  script: string,
  args: readonly string[],
  filters: readonly string[],
) => Promise<string | null>;

/** How many branches of remotes are compared. */
const CANDIDATES_MAX = 30;
const SHA = /^[0-9a-f]{40,64}$/;

const CONFIG_KEYS = `${OBEYS_SETTINGS} || { echo 'this git does not take the settings that keep it from starting programs' >&2; exit 1; }
git config -z --name-only --list`;
const REFS = `git symbolic-ref -q --short HEAD || echo
git rev-parse -q --verify '@{upstream}^{commit}' || echo
git for-each-ref --count=2000 --sort=-committerdate '--format=%(objectname) %(refname:lstrip=3)' refs/remotes`;
const DISTANCES = `git rev-parse -q --verify HEAD >/dev/null || { echo 'it has no commit yet' >&2; exit 1; }
for sha; do git rev-list --count "$sha..HEAD" -- || exit; done`;

/** The path of a name that git tracks in no folder. */
const OF_GIT = '.[gG][iI][tT]';
/**
 * The lines of `git update-index --index-info` that add the paths in "$@" as empty files, whose
 * content is "$empty". What they are, `git diff` sees in the working tree. Left out are nested
 * repositories, whose paths end with a slash, and what git refuses to track.
 */
const ADD = `for path; do case /$path/ in *//|*/${OF_GIT}/*) ;; *) printf "100644 $empty 0\\t%s\\000" "$path" ;; esac; done`;
/**
 * Untracked files are added to a copy of the index, so that git needs as many processes for all of
 * them as for one. The copy keeps the time of the index, from which git knows the files whose times
 * do not tell whether they have changed. Submodules are compared by their commits: looking into one
 * would run git with its configuration. After $2 bytes, git ends.
 */
const DIFF = `index=$(git rev-parse --git-path index) && empty=$(git hash-object --stdin </dev/null) || exit
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT || exit
git ls-files -z --others --exclude-standard >"$folder/paths" || exit
export empty GIT_INDEX_FILE="$folder/index"
{ [ ! -e "$index" ] || cp -p -- "$index" "$GIT_INDEX_FILE"; } || exit
xargs -0 sh -c '${ADD}' sh <"$folder/paths" >"$folder/added" || exit
git -c core.protectHFS=false -c core.protectNTFS=false update-index -z --index-info <"$folder/added" || exit
{ git diff --no-color --binary --no-ext-diff --no-textconv --src-prefix=a/ --dst-prefix=b/ --ignore-submodules=dirty --submodule=short "$1" --
echo $? >"$folder/exit"; } | head -c "$2"
[ "$(cat "$folder/exit")" -eq 0 ]`;

/**
 * Compares a working tree with the nearest commit that a remote is known to have. Null: there is
 * none, or git fails.
 */
export async function diffToRemote(
  run: RunGit,
  { bytesMax }: { bytesMax: number },
): Promise<GitDiffToRemoteResponse | { problem: string } | null> {
  const keys = await run(CONFIG_KEYS, [], []);
  if (keys === null) return null;
  const filters = filterNames(keys.split('\0'));
  const left = filters.find((name) => !canSwitchOff(name));
  if (left !== undefined)
    return {
      problem: `its configuration has the filter "${left}", which heddle cannot switch off`,
    };
  const refs = await run(REFS, [], filters);
  const candidates = refs === null ? [] : candidatesIn(refs);
  const distances = candidates.length === 0 ? null : await run(DISTANCES, candidates, filters);
  const sha = distances === null ? null : nearest(candidates, distances);
  const diff = sha === null ? null : await run(DIFF, [sha, String(bytesMax)], filters);
  return sha === null || diff === null ? null : { sha, diff };
}

/**
 * The commits of branches of remotes: first the upstream branch, unless that is a local one, the
 * one of the same name and the main ones, then the latest others.
 */
function candidatesIn(refs: string): string[] {
  const [branch = '', upstream = '', ...lines] = refs.split('\n');
  const named = lines.flatMap((line): [sha: string, name: string][] => {
    const space = line.indexOf(' ');
    return space === -1 ? [] : [[line.slice(0, space), line.slice(space + 1)]];
  });
  const first = [branch, 'HEAD', 'main', 'master'].flatMap((name) =>
    named.filter((each) => each[1] === name && name !== ''),
  );
  const ofUpstream = named.filter(([sha]) => sha === upstream);
  const shas = [...ofUpstream, ...first, ...named]
    .map(([sha]) => sha)
    .filter((sha) => SHA.test(sha));
  return [...new Set(shas)].slice(0, CANDIDATES_MAX);
}

function nearest(candidates: readonly string[], distances: string): string | null {
  const counts = distances.trim().split('\n').map(Number);
  const least = Math.min(...counts);
  return candidates[counts.indexOf(least)] ?? null;
}
