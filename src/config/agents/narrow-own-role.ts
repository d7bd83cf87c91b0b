import type { JsonObject } from '../../base/json-value.ts';
import { ConfigError } from '../config-error.ts';
import { emptyTable, isTable, valueAt } from '../layers/config-table.ts';
import type { Layer } from '../layers/layer.ts';
import type { RoleProblem } from './agent-role.ts';

/** What decides about commands beside the sandbox and the approvals, which are compared: agents have it from the thread that starts them. */
const OF_THE_THREAD: readonly (readonly string[])[] = [
  ['allow_login_shell'],
  ['auto_review'],
  ['features', 'network_proxy'],
  ['permissions'],
  ['sandbox_workspace_write', 'unix_sockets'],
  ['sandbox_workspace_write', 'unprotected_folders'],
  ['shell_environment_policy'],
];

/** A user's own role without the settings that its agents have from the thread that starts them. */
export function narrowOwnRole(layer: Layer): { kept: Layer; ignored: RoleProblem[] } {
  const found = OF_THE_THREAD.filter((path) => valueAt(layer.config, path) !== undefined);
  const ignored = found.map((path) => {
    const summary = `${path.join('.')} is ignored: an agent has that of the thread that starts it`;
    const { message, location } = new ConfigError(summary, layer.locate([...path]));
    return { role: null, summary: message, details: null, location, isProjects: false };
  });
  return { kept: { ...layer, config: found.reduce(without, layer.config) }, ignored };
}

function without(table: JsonObject, [key = '', ...rest]: readonly string[]): JsonObject {
  const others = Object.assign(emptyTable(), table);
  const inner = others[key];
  if (rest.length === 0 || !isTable(inner)) delete others[key];
  else others[key] = without(inner, rest);
  return others;
}
