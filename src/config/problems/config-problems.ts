import type { ConfigWarningNotification } from '../../protocol/generated/types.ts';
import type { Config } from '../config.ts';
import { type ConfigReads, configErrors } from '../config-errors.ts';
import { type HookProblem, REQUEST_PATH } from '../hooks/hook-definition.ts';
import { lossOfKeys } from '../keys/loss-of-keys.ts';
import { tellSome } from '../keys/tell-some.ts';
import type { Layer } from '../layers/layer.ts';
import { mcpProblems, mcpSettings } from '../mcp/mcp-settings.ts';
import {
  type ConfigError,
  IncompleteConfigError,
  type LocatedWarning,
} from '../toml/config-error.ts';
import { idleWebSearch } from '../web-search.ts';
import { agentWarnings } from './agent-warnings.ts';
import { keyringWarnings } from './keyring-warnings.ts';
import { missingProgram } from './missing-program.ts';
import { limitedSettings, requirementWarnings } from './requirement-warnings.ts';
import { keyWarnings } from './unknown-keys.ts';

/** The details of a warning about a value that threads cannot do without. */
const REFUSED =
  'The server refuses threads that need it until you correct it. Everything else works.';
const SERVER_RUNS = 'The server runs without it. docs/mcp.md lists the keys that heddle knows.';

/** Something is wrong with a setting or a file of the configuration. */
export interface ConfigProblem {
  /** The problem without its place, which a change of the file can move. */
  problem: string;
  /**
   * `incomplete`: something is missing that a client may add later. `noEffect`: a valid key or
   * value does nothing.
   */
  kind: 'invalid' | 'incomplete' | 'noEffect';
  /** `warning`: heddle works, but perhaps not as the user expects. */
  severity: 'error' | 'warning';
  /** The one thing to do. */
  fix: string;
  /** Whether the `config` of a request has the problem. */
  isRequests: boolean;
  warning: ConfigWarningNotification;
}

/**
 * Returns the problems of all settings, and of what `further` reads. Warnings, writes and `heddle
 * doctor` share them.
 */
export function configProblems(config: Config, further: ConfigReads): ConfigProblem[] {
  const notAllowed = new Set(limitedSettings(config).map(({ message }) => message));
  const noEffect = (warnings: readonly LocatedWarning[]) =>
    warnings.map((warning) => warningProblem(warning, 'noEffect'));
  return [
    ...configErrors(config, further).map(({ error, names }) =>
      ofError(error, lossOfKeys(names) ?? REFUSED),
    ),
    ...mcpProblems(config).map(ofMcp),
    ...noEffect(unknownServerKeys(config)),
    ...noEffect(config.layers.flatMap(ineffectiveKeys)),
    ...requirementWarnings(config).map((warning) =>
      warningProblem(warning, notAllowed.has(warning.summary) ? 'invalid' : 'noEffect'),
    ),
    ...roleProblems(config, { isProjects: false }),
    ...hookProblems(config, { isProjects: false }),
    ...noEffect([...keyringWarnings(config), ...idleWebSearch(config)]),
  ];
}

/** Returns the warnings about the keys of a layer that have no effect. */
function ineffectiveKeys(layer: Layer): LocatedWarning[] {
  return [...keyWarnings(layer), ...agentWarnings(layer)];
}

/** The warnings about the keys of MCP servers that have no effect. */
function unknownServerKeys(config: Config): LocatedWarning[] {
  const told = ({ message: summary, location }: ConfigError) => ({
    summary,
    details: SERVER_RUNS,
    location,
  });
  return tellSome(mcpSettings(config).unknown, {
    each: ({ path, problem }) => told(config.error(path, problem)),
    rest: (names, { path }) =>
      told(
        config.error(
          path,
          `heddle does not know these keys either, so they have no effect: ${names}`,
        ),
      ),
  });
}

/** Returns the problems with the roles of the user, or of the project. */
export function roleProblems(
  { agentRoles }: Config,
  { isProjects }: { isProjects: boolean },
): ConfigProblem[] {
  const asked = agentRoles.problems.filter((problem) => problem.isProjects === isProjects);
  return asked.map((problem) =>
    warningProblem(problem, problem.role === null ? 'noEffect' : 'invalid'),
  );
}

/** Returns the problems with the hooks of the user, or of the project. */
export function hookProblems(
  config: Config,
  { isProjects }: { isProjects: boolean },
): ConfigProblem[] {
  const { hooks } = config;
  const missing = hooks.hooks.flatMap((hook): HookProblem[] => {
    const { key, sourcePath: path, source } = hook;
    const what = (source === 'project') === isProjects ? missingProgram(hook, config) : null;
    const message = `${path}: the hook ${key} cannot do its work: ${what} is missing or cannot be used.`;
    return what === null ? [] : [{ path, message, isProjects, isAdvice: true }];
  });
  const asked = [...hooks.errors, ...hooks.warnings].filter(
    (problem) => problem.isProjects === isProjects,
  );
  return [...asked, ...missing].map(({ message: summary, path, isAdvice }) => {
    const location = {
      path,
      range: null,
      ...(path === REQUEST_PATH ? { isRequests: true as const } : {}),
    };
    const problem = warningProblem(
      { summary, details: null, location },
      isAdvice ? 'noEffect' : 'invalid',
    );
    return { ...problem, fix: `${FOLLOW}, or correct the file.` };
  });
}

function ofError(error: ConfigError, details: string): ConfigProblem {
  const kind = error instanceof IncompleteConfigError ? 'incomplete' : 'invalid';
  return {
    ...warningProblem({ summary: error.message, details, location: error.location }, kind),
    problem: error.problem,
  };
}

/** Threads start without a server that is not required. */
function ofMcp({ error, details }: ReturnType<typeof mcpProblems>[number]): ConfigProblem {
  return details === null
    ? ofError(error, REFUSED)
    : { ...ofError(error, details), severity: 'warning' };
}

const FOLLOW = 'Follow the message';

/** Returns the problem that a warning is about. */
export function warningProblem(
  { summary, details, location }: LocatedWarning,
  kind: ConfigProblem['kind'],
): ConfigProblem {
  const { path, range, isRequests = false } = location;
  const correction =
    range !== null
      ? 'Correct the value in this line.'
      : path === null
        ? 'Correct it where it is given.'
        : 'Correct the file.';
  return {
    problem: summary.replace(/^invalid config: (?:.*?:\d+:\d+: )?/, ''),
    kind,
    severity: kind === 'noEffect' ? 'warning' : 'error',
    fix: kind === 'noEffect' ? (details ?? `${FOLLOW}.`) : correction,
    isRequests,
    warning: { summary, details, path, range },
  };
}

/** Returns the problem of a configuration that cannot be read. */
export function unreadable({ message: summary, location }: ConfigError): ConfigProblem {
  return warningProblem({ summary, details: REFUSED, location }, 'invalid');
}
