import type { ConfigWarningNotification } from '../protocol/generated/types.ts';
import { agentWarnings, roleWarnings } from './agents/agent-warnings.ts';
import type { Config } from './config.ts';
import { type ConfigError, type ConfigLocation, IncompleteConfigError } from './config-error.ts';
import { type ConfigReads, configErrors } from './config-errors.ts';
import { keyWarnings } from './keys/key-warnings.ts';
import { lossOf } from './keys/loss-of.ts';
import type { Layer } from './layers/layer.ts';
import { mcpProblems, mcpSettings } from './mcp/mcp-settings.ts';
import { limitedSettings, requirementWarnings } from './requirements/requirement-warnings.ts';

/** The details of a warning about a value that threads cannot do without. */
export const REFUSED = 'The server refuses threads that need it until you correct it. Everything else works.';
/** The details of a warning about an MCP server that is not required. */
const MCP_REFUSED = 'Threads start without it until you correct it. Everything else works.';
const SERVER_RUNS = 'The server runs without it. docs/mcp.md lists the keys that heddle knows.';

/** Something is wrong with the user's own settings. */
export interface ConfigProblem {
  /** The problem without its place, which a change of the file can move. */
  problem: string;
  /** `incomplete`: something is missing that a client may add later. `noEffect`: a valid key or value does nothing. */
  kind: 'invalid' | 'incomplete' | 'noEffect';
  warning: ConfigWarningNotification;
}

/** Returns the problems of all settings, and of what `further` reads. Warnings, writes and `heddle doctor` share them. */
export function configProblems(config: Config, further: ConfigReads): ConfigProblem[] {
  const notAllowed = new Set(limitedSettings(config).map(({ message }) => message));
  const unusable = new Set(config.agentRoles.problems.filter(({ role }) => role !== null).map(({ summary }) => summary));
  const told = (warnings: readonly ConfigWarningNotification[], invalid?: ReadonlySet<string>) =>
    warnings.map((warning) => ofWarning(warning, invalid?.has(warning.summary) ? 'invalid' : 'noEffect'));
  return [
    ...configErrors(config, further).map(({ error, settings }) => ofError(error, lossOf(settings) ?? REFUSED)),
    ...mcpProblems(config).map(({ error, required }) => ofError(error, required ? REFUSED : MCP_REFUSED)),
    ...told(unknownServerKeys(config)),
    ...told(config.layers.flatMap(ineffectiveKeys)),
    ...told(requirementWarnings(config), notAllowed),
    ...told(roleWarnings(config, { isProjects: false }), unusable),
    ...hookProblems(config),
  ];
}

/** Returns the warnings about the keys of a layer that have no effect. */
export function ineffectiveKeys(layer: Layer): ConfigWarningNotification[] {
  return [...keyWarnings(layer), ...agentWarnings(layer)];
}

/** The warnings about the keys of MCP servers that have no effect, in layers that are asked for: by default in all. */
export function unknownServerKeys(config: Config, isAskedFor: (layer: Layer) => boolean = () => true): ConfigWarningNotification[] {
  const asked = mcpSettings(config).unknown.filter(({ path }) => {
    const layer = config.layerOf(path);
    return layer !== null && isAskedFor(layer);
  });
  return asked.map(({ path, problem }) => toConfigWarning(config.error(path, problem), SERVER_RUNS));
}

function hookProblems({ hooks }: Config): ConfigProblem[] {
  const own = [...hooks.errors, ...hooks.warnings].filter(({ isProjects }) => !isProjects);
  return own.map(({ message, path, isAdvice }) =>
    ofWarning({ summary: message, details: null, path, range: null }, isAdvice ? 'noEffect' : 'invalid'),
  );
}

function ofError(error: ConfigError, details: string): ConfigProblem {
  const kind = error instanceof IncompleteConfigError ? 'incomplete' : 'invalid';
  return { problem: error.problem, kind, warning: toConfigWarning(error, details) };
}

function ofWarning(warning: ConfigWarningNotification, kind: ConfigProblem['kind']): ConfigProblem {
  return { problem: warning.summary.replace(/^invalid config: (?:.*?:\d+:\d+: )?/, ''), kind, warning };
}

/** Returns the warning about a problem of the configuration. `details` says what to do. */
export function toConfigWarning(error: { message: string; location: ConfigLocation }, details: string): ConfigWarningNotification {
  return { summary: error.message, details, path: error.location.path, range: error.location.range };
}
