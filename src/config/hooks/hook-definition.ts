import type { JsonObject } from '../../base/json-value.ts';
import { isWithin } from '../../base/paths/is-within.ts';
import type { HookEventName, HookSource, HookTrustStatus } from '../../protocol/generated/types.ts';
import { hookEvent } from './hook-events.ts';

/** The part of a hook that does the work. */
export type HookHandler =
  | { type: 'command'; command: string; isAsync: boolean }
  | { type: 'mcpTool'; server: string; tool: string; input: JsonObject }
  /** `model`: null means that of the thread. */
  | { type: 'prompt' | 'agent'; prompt: string; model: string | null };

/** A hook, as a file defines it. */
export interface HookDefinition {
  /** Identifies it in `[hooks.state]`. */
  key: string;
  event: HookEventName;
  /** Null: it is for every call, or the event has no matchers. */
  matcher: string | null;
  /** Whether the matcher accepts one of these names. */
  matches(names: readonly string[]): boolean;
  handler: HookHandler;
  timeoutSec: number;
  statusMessage: string | null;
  /** The most tokens of additional context; null: the default. */
  contextTokensMax: number | null;
  source: HookSource;
  /** Absolute. */
  sourcePath: string;
  /**
   * The folder of the project that defines the hook, without links: it runs there, for work inside
   * it only. Null: it is no project's.
   */
  projectFolder: string | null;
  displayOrder: number;
  isEnabled: boolean;
  hash: string;
  trust: HookTrustStatus;
}

/** A problem with the definition of hooks. */
export interface HookProblem {
  path: string;
  message: string;
  /** Whether a file of a project has the problem. */
  isProjects: boolean;
  /**
   * The definition is valid, but something has no effect, or can be clearer, or the hook has
   * changed since the user trusted it.
   */
  isAdvice?: true;
}

/** Stands for a file where the `config` of a request defines hooks. */
export const REQUEST_PATH = '/<request>/config.toml';

/** Stands for a file where the command line defines hooks. */
export const SESSION_PATH = '/<session-flags>/config.toml';

/** The hooks of a working directory. */
export interface HookSet {
  hooks: readonly HookDefinition[];
  /** About parts of files that are not used. */
  warnings: readonly HookProblem[];
  /** About files that cannot be used. */
  errors: readonly HookProblem[];
}

/** The name of the file in the home, and in the `.codex` folder of a project. */
export const HOOKS_FILE = 'hooks.json';

export const NO_HOOKS: HookSet = { hooks: [], warnings: [], errors: [] };

/** Whether a hook may run. */
export function runs({ isEnabled, trust }: HookDefinition): boolean {
  return isEnabled && (trust === 'trusted' || trust === 'managed');
}

/** Whether a hook is for work in a folder. `realCwd`: its path without links. */
export function isFor({ projectFolder }: HookDefinition, realCwd: string): boolean {
  return projectFolder === null || isWithin(realCwd, projectFolder);
}

/** The name of a hook in errors. */
export function hookName({ event, sourcePath }: HookDefinition): string {
  return `a hook for ${hookEvent(event).label} (${sourcePath})`;
}
