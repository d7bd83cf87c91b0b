import { resolve } from 'node:path';
import type { Config } from '../../../config/config.ts';
import type { HiddenPattern } from '../../../config/inherited-limits.ts';
import { ConfigError } from '../../../config/toml/config-error.ts';
import { joinedPatterns, problemOfPattern } from '../hidden-files.ts';
import { isPattern, literalPattern } from '../path-pattern.ts';

const WORKSPACE = ':workspace_roots/';

/**
 * The patterns of the files that the administrator hides. Throws a ConfigError if one cannot be
 * understood: a limit must not be lost.
 */
export function requiredHidden({ requirements, env }: Config): HiddenPattern[] {
  const { deniedReads, deniedDepthMax, source } = requirements;
  return deniedReads.map((text) => {
    const path = patternOf(text, env.HOME);
    const pattern: HiddenPattern = { path: path ?? '', depthMax: deniedDepthMax, isRequired: true };
    const problem =
      path === null
        ? 'expected an absolute path, or one below `~` or `:workspace_roots`'
        : problemOfPattern(pattern);
    if (problem === null) return pattern;
    const where = source.locate(['permissions', 'filesystem', 'deny_read']);
    throw new ConfigError(
      `permissions.filesystem.deny_read: ${JSON.stringify(text)} cannot be used: ${problem}`,
      where,
    );
  });
}

/** The sandbox with what the administrator hides now, whatever else it hides. */
export function withRequiredHidden<
  T extends { hidden?: readonly HiddenPattern[] | null | undefined },
>(sandbox: T, config: Config): T {
  const required = requiredHidden(config);
  const { hidden = null } = sandbox;
  const own = hidden?.filter(({ isRequired }) => isRequired !== true) ?? [];
  if (required.length === 0 && own.length === (hidden?.length ?? 0)) return sandbox;
  const all = joinedPatterns(required, own);
  return { ...sandbox, hidden: all.length === 0 ? null : all };
}

/**
 * Whether the administrator hides files, so that no command of a model may run without a sandbox.
 */
export function mustStayInside(hidden: readonly HiddenPattern[] | null | undefined): boolean {
  return hidden?.some(({ isRequired }) => isRequired === true) === true;
}

/**
 * The path as a pattern. An exact path is one that only matches itself. Null: it is neither
 * absolute nor below a known place.
 */
function patternOf(text: string, home: string | undefined): string | null {
  const path = text.length > 1 ? text.replace(/\/$/, '') : text;
  const [start, below] = split(path, home);
  if (start === null) return null;
  return start + (isPattern(below) ? below : literalPattern(below));
}

/** The start of a path, which is no pattern, and the rest. */
function split(path: string, home: string | undefined): [string | null, string] {
  if (path.startsWith('/')) return ['', path];
  if (path.startsWith(WORKSPACE)) return [WORKSPACE, path.slice(WORKSPACE.length)];
  return path.startsWith('~/') && home !== undefined
    ? [`${literalPattern(resolve(home))}/`, path.slice(2)]
    : [null, ''];
}
