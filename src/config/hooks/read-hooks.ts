import type { ProjectFile } from '../trust/judge-project-files.ts';
import type { HookDefinition, HookProblem, HookSet } from './hook-definition.ts';
import { type HookSources, hookOrigins } from './hook-origins.ts';
import { hookStates, stateName, trustOf, unusedStates } from './hook-states.ts';
import { parseHooks } from './parse-hooks.ts';

/**
 * Reads the hooks of a working directory: `hooks.json` in the home and in the folders of the
 * project, and the `[hooks]` tables of the layers. Never throws a ConfigError: what cannot be used
 * becomes a problem.
 */
export function readHooks(sources: HookSources): HookSet {
  const errors: HookProblem[] = [];
  const warnings: HookProblem[] = [];
  const origins = hookOrigins(sources, errors, warnings);
  const states = hookStates(sources.layers, warnings);
  const keyStarts = new Set(origins.map(({ keyStart, path }) => keyStart ?? path));
  const hooks: HookDefinition[] = [];
  for (const {
    source,
    path,
    keyStart = path,
    projectFolder = null,
    table,
    trust,
    problem,
  } of origins) {
    const isProjects = source === 'project';
    const parsed = parseHooks(table, keyStart);
    const problems = problem === undefined ? parsed.problems : [problem];
    warnings.push(
      ...problems.map((message) => ({ path, message: `${path}: ${message}`, isProjects })),
    );
    warnings.push(
      ...parsed.advice.map((message) => ({
        path,
        message: `${path}: ${message}`,
        isProjects,
        isAdvice: true as const,
      })),
    );
    for (const hook of parsed.hooks) {
      // Users do not decide about the hooks of the administrator.
      const state = trust === 'managed' ? undefined : states.get(hook.key);
      const facts = { source, sourcePath: path, projectFolder, displayOrder: hooks.length };
      const isEnabled = sources.isEnabled && state?.isEnabled !== false;
      hooks.push({ ...hook, ...facts, isEnabled, trust: trustOf(hook.hash, trust, state) });
    }
  }
  warnings.push(
    ...unusedStates(states, hooks, keyStarts),
    ...changedHooks(hooks, sources.files),
    ...notInForce(sources, hooks),
  );
  return { hooks, warnings, errors };
}

/**
 * A warning for each hook of a file in force that does not run, because its definition is not the
 * one that the user trusts.
 */
function changedHooks(
  hooks: readonly HookDefinition[],
  files: readonly ProjectFile[],
): HookProblem[] {
  const notInForce = new Set(files.filter(({ isInForce }) => !isInForce).map(({ path }) => path));
  return hooks.flatMap(({ key, hash, trust, isEnabled, source, sourcePath: path }) => {
    if (!isEnabled || trust !== 'modified' || notInForce.has(path)) return [];
    const why = `${path}: the hook ${key} has changed since you trusted it, so it does not run.`;
    const message = `${why} If you trust it as it is now, set ${stateName(key)}.trusted_hash = ${JSON.stringify(hash)} in config.toml.`;
    return [{ path, message, isProjects: source === 'project', isAdvice: true }];
  });
}

/** A warning for each file whose hooks do not run although the user trusts its folder. */
function notInForce(
  { files, mainLayers }: HookSources,
  hooks: readonly HookDefinition[],
): HookProblem[] {
  const ofMain = mainLayers.flatMap(
    ({ layer: { disabledReason: message, warnsDisabled, locate } }): HookProblem[] => {
      const { path } = locate([]);
      return message !== null && warnsDisabled && path !== null
        ? [{ path, message, isProjects: true }]
        : [];
    },
  );
  const ofFiles = files.flatMap((file) => {
    if (file.isInForce || !file.isFolderTrusted) return [];
    const own = hooks.filter(({ sourcePath }) => sourcePath === file.path);
    if (own.length > 0 && own.every(({ trust }) => trust === 'trusted')) return [];
    return [{ path: file.path, message: file.reason, isProjects: true }];
  });
  return [...ofMain, ...ofFiles];
}
