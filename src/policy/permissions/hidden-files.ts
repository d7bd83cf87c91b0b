import { join, sep } from 'node:path';
import { isWithin } from '../../base/paths/is-within.ts';
import type { HiddenPattern } from '../../config/inherited-limits.ts';
import {
  after,
  isEnd,
  literalName,
  literalPattern,
  type PathPattern,
  parsePattern,
  startOf,
} from './path-pattern.ts';

/** The name of the folders of the workspace in a `HiddenPattern`. */
const WORKSPACE = ':workspace_roots';

/**
 * Files below a folder that can be neither read nor written: those that match, and everything in
 * folders that match.
 */
export interface HiddenFiles {
  /** The folder above the part of the pattern that is no plain text. Absolute. */
  root: string;
  pattern: PathPattern;
  /** The pattern as it was configured. */
  text: string;
  depthMax: number | null;
}

/** Returns the pattern for an exact path: no character of it has a meaning. */
export function hiddenPath(path: string): HiddenPattern {
  return { path: literalPattern(path), depthMax: null };
}

/**
 * Returns why a pattern cannot be understood or enforced, as a part of a sentence. Null: it can be.
 */
export function problemOfPattern({ path, depthMax }: HiddenPattern): string | null {
  if (!path.startsWith(sep) && !path.startsWith(`${WORKSPACE}/`))
    return `it is not below a folder or \`${WORKSPACE}\``;
  const parsed = parsePattern(relativeOf(path));
  if (typeof parsed === 'string') return parsed;
  if (path.startsWith(WORKSPACE) || depthMax !== null) return null;
  const isUnbounded = parsed.some(
    (names) => rooted('/', names).root === '/' && names.includes('**'),
  );
  return isUnbounded
    ? 'it begins at the root of the file system: begin it with a folder, or set `glob_scan_max_depth`'
    : null;
}

/**
 * The files that these patterns hide, in a workspace of these folders. Throws if a pattern has a
 * problem.
 */
export function hiddenFiles(
  patterns: readonly HiddenPattern[],
  workspace: readonly string[],
): HiddenFiles[] {
  return patterns.flatMap(({ path, depthMax }) => {
    const parsed = parsePattern(relativeOf(path));
    if (typeof parsed === 'string')
      throw new Error(`the pattern ${path} cannot be understood: ${parsed}`);
    const folders = path.startsWith(WORKSPACE) ? [...new Set(workspace)] : [sep];
    return folders.flatMap((folder) =>
      parsed.map((names) => ({ ...rooted(folder, names), text: path, depthMax })),
    );
  });
}

/**
 * Whether an absolute path is hidden. The roots and the path have their links resolved, or none
 * has.
 */
export function isHidden(path: string, hidden: readonly HiddenFiles[]): boolean {
  return hidden.some(
    ({ root, pattern }) => isWithin(path, root) && matchesWay(pattern, namesBelow(path, root)),
  );
}

/**
 * The patterns for another workspace: they hide the same below its folders, and still what they
 * hide below this one. The latter are limits of that workspace, and stay when the administrator's
 * patterns are renewed.
 */
export function patternsFrom(patterns: readonly HiddenPattern[], folder: string): HiddenPattern[] {
  const here = literalPattern(folder === sep ? '' : folder);
  return patterns.flatMap((each) => {
    const { path, depthMax } = each;
    return path.startsWith(WORKSPACE)
      ? [each, { path: `${here}${path.slice(WORKSPACE.length)}`, depthMax }]
      : [each];
  });
}

/** All patterns of both lists. */
export function joinedPatterns(
  one: readonly HiddenPattern[],
  other: readonly HiddenPattern[],
): HiddenPattern[] {
  const isNew = ({ path, depthMax }: HiddenPattern) =>
    !one.some((each) => each.path === path && each.depthMax === depthMax);
  return [...one, ...other.filter(isNew)];
}

function relativeOf(path: string): string {
  return path.slice(path.indexOf(sep) + 1);
}

/** Moves the first names that are plain text to the folder. The last name stays in the pattern. */
function rooted(folder: string, names: PathPattern): Pick<HiddenFiles, 'root' | 'pattern'> {
  let root = folder;
  let taken = 0;
  for (const name of names.slice(0, -1)) {
    const text = literalName(name);
    if (text === null) break;
    root = join(root, text);
    taken += 1;
  }
  return { root, pattern: names.slice(taken) };
}

function namesBelow(path: string, root: string): string[] {
  return path
    .slice(root.length)
    .split(sep)
    .filter((name) => name !== '');
}

/** Whether the names, or the first of them, match. */
function matchesWay(pattern: PathPattern, names: readonly string[]): boolean {
  let positions = startOf(pattern);
  for (const name of names) {
    positions = after(pattern, positions, name);
    if (isEnd(pattern, positions)) return true;
    if (positions.length === 0) return false;
  }
  return false;
}
