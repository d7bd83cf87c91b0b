import type { JsonValue } from '../../base/json-value.ts';
import type { HookTrustStatus } from '../../protocol/generated/types.ts';
import type { Layer } from '../layers/layer.ts';
import { isRequestLayer } from '../layers/request-layer.ts';
import { emptyTable, isTable, valueAt } from '../toml/config-table.ts';
import {
  type HookDefinition,
  type HookProblem,
  REQUEST_PATH,
  SESSION_PATH,
} from './hook-definition.ts';
import { HOOK_EVENTS, separatedName } from './hook-events.ts';
import { HookFields } from './hook-fields.ts';

/** The user's decision about a hook. */
interface HookState {
  isEnabled?: boolean;
  trustedHash?: string;
  /** The file that says so. */
  path: string;
}

const STATE_KEYS = ['enabled', 'trusted_hash'];
const KEY = /^(.+):([a-z_]+):\d+:\d+$/s;
const KEY_EVENTS = new Set(HOOK_EVENTS.map(({ name }) => separatedName(name, '_')));

/**
 * `[hooks.state]` of the administrator's file, of the user's own, and of the session. Later ones
 * replace single values of earlier ones. Adds a warning for each that cannot be used.
 */
export function hookStates(
  layers: readonly Layer[],
  warnings: HookProblem[],
): Map<string, HookState> {
  const states = new Map<string, HookState>();
  for (const layer of layers.filter(({ name }) => name.type !== 'project')) {
    const pathOf = (key: readonly string[]) =>
      layer.locate(key).path ?? (isRequestLayer(layer) ? REQUEST_PATH : SESSION_PATH);
    const tell = (key: readonly string[], problem: string) => {
      const path = pathOf(key);
      warnings.push({ path, message: `${path}: ${problem}`, isProjects: false });
    };
    const table = valueAt(layer.config, ['hooks', 'state']) ?? emptyTable();
    if (!isTable(table)) {
      tell(['hooks', 'state'], 'hooks.state: expected a table');
      continue;
    }
    for (const [key, state] of Object.entries(table)) {
      const place = ['hooks', 'state', key];
      const problems: string[] = [];
      const read = readState(state, stateName(key), problems);
      for (const problem of problems) tell(place, problem);
      if (read !== null) states.set(key, { ...states.get(key), ...read, path: pathOf(place) });
    }
  }
  return states;
}

/**
 * The trust in a hook whose source has this trust. The user's record of a hash overrides everything
 * else.
 */
export function trustOf(
  hash: string,
  trust: HookTrustStatus,
  state: HookState | undefined,
): HookTrustStatus {
  const trusted = state?.trustedHash;
  if (trusted === undefined) return trust;
  return trusted === hash ? 'trusted' : 'modified';
}

/** Returns what is set; null: it cannot be used. */
function readState(
  state: JsonValue,
  where: string,
  problems: string[],
): Omit<HookState, 'path'> | null {
  const { enabled, trusted_hash: trustedHash } = isTable(state) ? state : emptyTable();
  const isEnabledValid = enabled === undefined || typeof enabled === 'boolean';
  const isHashValid = trustedHash === undefined || typeof trustedHash === 'string';
  if (!isTable(state) || !isEnabledValid || !isHashValid) {
    problems.push(
      `${where}: expected a table with enabled = true or false and trusted_hash = "sha256:…"`,
    );
    return null;
  }
  new HookFields(state, where, { problems, advice: problems }).endWith(STATE_KEYS);
  return {
    ...(enabled === undefined ? {} : { isEnabled: enabled }),
    ...(trustedHash === undefined ? {} : { trustedHash }),
  };
}

/**
 * A warning for each state of a hook that does not exist. Keys of other sources can belong to
 * another project, or to another profile.
 */
export function unusedStates(
  states: ReadonlyMap<string, HookState>,
  hooks: readonly HookDefinition[],
  keyStarts: ReadonlySet<string>,
): HookProblem[] {
  const keys = new Set(hooks.map(({ key }) => key));
  return [...states].flatMap(([key, { path }]) => {
    const [, start = '', event = ''] = KEY.exec(key) ?? [];
    if (keys.has(key) || (KEY_EVENTS.has(event) && !keyStarts.has(start))) return [];
    const message = `${path}: ${stateName(key)} has no effect, because no hook has this key. hooks/list has the keys.`;
    return [{ path, message, isProjects: false, isAdvice: true }];
  });
}

/** The name of a hook's state in messages. */
export function stateName(key: string): string {
  return `hooks.state.${JSON.stringify(key)}`;
}
