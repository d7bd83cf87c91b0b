import type { Env } from '../../base/env.ts';
import type { EnvironmentPolicy } from '../../config/environment-policy.ts';
import { variableNamesSecret } from '../../secrets/names-secret.ts';
import { holdsSecret } from '../../secrets/redact-likely-secrets.ts';

/** The environment of a command, and the variables that were withheld from it. */
export interface CommandEnvironment {
  env: Record<string, string>;
  /**
   * The sorted names of the server's variables that were withheld because they may hold secrets or
   * are excluded.
   */
  withheld: string[];
}

/** The variables that `inherit = "core"` keeps: the ones that programs commonly need. */
const CORE = new Set([
  'HOME',
  'LOGNAME',
  'PATH',
  'SHELL',
  'USER',
  'USERNAME',
  'TMPDIR',
  'TEMP',
  'TMP',
  'SYSTEMROOT',
  'PATHEXT',
]);
/**
 * The values of these variables are not examined: they are paths and names that commands cannot
 * work without.
 */
const UNEXAMINED = new Set([...CORE, 'PWD', 'OLDPWD']);

/**
 * Applies an environment policy to the server's environment. Takes the inherited variables. Removes
 * those whose names or values look like secrets and those with keys of providers, except names that
 * `include_only` spells out. Removes the excluded variables. Then keeps only the variables that
 * `include_only` matches, adds `given`, and adds the variables of `set` that `include_only`
 * matches.
 */
export function commandEnvironment(
  env: Env,
  policy: EnvironmentPolicy,
  given: Readonly<Record<string, string>> = {},
): CommandEnvironment {
  const spelledOut = new Set(policy.includeOnly.map((name) => name.toUpperCase()));
  const isExcluded = matcher(policy.exclude);
  const isIncluded = policy.includeOnly.length === 0 ? () => true : matcher(policy.includeOnly);
  const kept: Record<string, string> = {};
  const withheld: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || !isInherited(name, policy.inherit)) continue;
    const isKept = spelledOut.has(name.toUpperCase());
    if ((!isKept && isSecret(name, value, policy)) || isExcluded(name)) withheld.push(name);
    else kept[name] = value;
  }
  const included = (variables: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(variables).filter(([name]) => isIncluded(name)));
  return {
    env: { ...included(kept), ...given, ...included(policy.set) },
    withheld: withheld.filter((name) => policy.set[name] === undefined).sort(),
  };
}

/**
 * Whether a variable contains a key of a provider, or looks like a secret while the policy
 * withholds such variables.
 */
function isSecret(
  name: string,
  value: string,
  { keyNames, keys, ignoreDefaultExcludes }: EnvironmentPolicy,
): boolean {
  const isExamined = !UNEXAMINED.has(name.toUpperCase());
  if (keyNames.includes(name) || (isExamined && keys.some((key) => value.includes(key))))
    return true;
  return (
    !ignoreDefaultExcludes && (variableNamesSecret(name) || (isExamined && holdsSecret(value)))
  );
}

function isInherited(name: string, inherit: EnvironmentPolicy['inherit']): boolean {
  return inherit === 'all' || (inherit === 'core' && CORE.has(name.toUpperCase()));
}

/**
 * Returns a function that matches names with the patterns: `*` matches any text and `?` any
 * character. Ignores case.
 */
function matcher(patterns: readonly string[]): (name: string) => boolean {
  const expressions = patterns.map((pattern) => {
    const parts = pattern
      .split(/([*?])/)
      .map((part) => (part === '*' ? '.*' : part === '?' ? '.' : escapeExpression(part)));
    return new RegExp(`^${parts.join('')}$`, 'is');
  });
  return (name) => expressions.some((expression) => expression.test(name));
}

function escapeExpression(text: string): string {
  return text.replace(/[\\^$.|+()[\]{}]/g, '\\$&');
}
