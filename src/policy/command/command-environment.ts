import type { Env } from '../../base/env.ts';
import type { EnvironmentPolicy } from '../../config/environment-policy.ts';

/** What a command finds in its environment, and what was kept from it. */
export interface CommandEnvironment {
  env: Record<string, string>;
  /** The names of the variables that are there and were withheld for what they may hold, in order. */
  withheld: string[];
}

/** What `inherit = "core"` leaves: what programs commonly need. */
const CORE = new Set(['HOME', 'LOGNAME', 'PATH', 'SHELL', 'USER', 'USERNAME', 'TMPDIR', 'TEMP', 'TMP', 'SYSTEMROOT', 'PATHEXT']);

/** Names that say that there is a secret in it. */
const SECRET = /KEY|SECRET|TOKEN|PASSWORD|CREDENTIAL/i;

/**
 * The environment that a policy means, of the server's own. First what is inherited, then without what looks secret and
 * without the providers' keys (but for a name that `include_only` spells out), then without what is excluded, then with what
 * is set, and of all that only what `include_only` lets through. `given` takes the place of what is inherited, not of what is
 * set.
 */
export function commandEnvironment(env: Env, policy: EnvironmentPolicy, given: Readonly<Record<string, string>> = {}): CommandEnvironment {
  const spelledOut = new Set(policy.includeOnly.map((name) => name.toUpperCase()));
  const isExcluded = matcher(policy.exclude);
  const isIncluded = policy.includeOnly.length === 0 ? () => true : matcher(policy.includeOnly);
  const kept: Record<string, string> = {};
  const withheld: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || !isInherited(name, policy.inherit)) continue;
    const isSecret = (SECRET.test(name) && !policy.ignoreDefaultExcludes) || policy.keyNames.includes(name);
    if ((isSecret && !spelledOut.has(name.toUpperCase())) || isExcluded(name)) withheld.push(name);
    else kept[name] = value;
  }
  const included = (variables: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(variables).filter(([name]) => isIncluded(name)));
  return {
    env: { ...included(kept), ...given, ...included(policy.set) },
    withheld: withheld.filter((name) => policy.set[name] === undefined).sort(),
  };
}

function isInherited(name: string, inherit: EnvironmentPolicy['inherit']): boolean {
  return inherit === 'all' || (inherit === 'core' && CORE.has(name.toUpperCase()));
}

/** Whether one of the patterns names it: `*` stands for any text and `?` for any character, whatever the case. */
function matcher(patterns: readonly string[]): (name: string) => boolean {
  const expressions = patterns.map((pattern) => {
    const parts = pattern.split(/([*?])/).map((part) => (part === '*' ? '.*' : part === '?' ? '.' : escapeExpression(part)));
    return new RegExp(`^${parts.join('')}$`, 'is');
  });
  return (name) => expressions.some((expression) => expression.test(name));
}

function escapeExpression(text: string): string {
  return text.replace(/[\\^$.|+()[\]{}]/g, '\\$&');
}
