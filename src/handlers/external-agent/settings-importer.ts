import { join } from 'node:path';
import type { JsonObject, JsonValue } from '../../base/json-value.ts';
import type { Config } from '../../config/config.ts';
import { isTable, valueAt } from '../../config/toml/config-table.ts';
import type { Configured } from '../config-writing/configured.ts';
import type { Importer, Refused } from './found.ts';
import { readSourceJson } from './read-source.ts';
import type { Scope } from './scope.ts';
import { whyRefused } from './take-each.ts';

/** The keys that other importers take. */
const ELSEWHERE: readonly string[] = ['$schema', 'hooks', 'disableAllHooks', 'mcpServers'];

/**
 * The settings that have a counterpart in config.toml: variables of commands, and a sandbox for the
 * workspace.
 */
export function settingsImporter({
  home,
  config,
  configWriter,
}: { home: string } & Pick<Configured, 'config' | 'configWriter'>): Importer {
  return {
    itemType: 'CONFIG',
    details: null,
    async look(scope) {
      const source = join(scope.folder, 'settings.json');
      const settings = await readSourceJson(source, scope.root);
      if (settings === null) return null;
      const target = join(home, 'config.toml');
      const { wanted, left } = counterparts(settings, scope);
      const current = await config();
      const free = wanted.filter(({ path }) => !isSet(current, path));
      const refused: Refused[] = left.map((message) => ({
        source,
        message,
        failureStage: 'select',
      }));
      for (const { path, value } of wanted) {
        const message = `${path.join('.')} is set in config.toml already, and was not changed`;
        if (isSet(current, path) && valueAt(current.values, path) !== value)
          refused.push({ source, message, failureStage: 'write' });
      }
      return {
        description: `Migrate ${source} into ${target}`,
        names: free.length === 0 ? [] : [source],
        refused,
        async take() {
          try {
            // Another client may have set one meanwhile.
            const edits = (now: Config) =>
              free
                .filter(({ path }) => !isSet(now, path))
                .map(({ path, value }) => ({
                  keyPath: path.join('.'),
                  value,
                  mergeStrategy: 'replace' as const,
                }));
            await configWriter.write({ edits });
          } catch (error) {
            return {
              taken: [],
              refused: [{ source, message: whyRefused(error), failureStage: 'write' }],
            };
          }
          const title = `config.toml has these settings now, with values as the source has them: ${free.map(({ path }) => path.join('.')).join(', ')}`;
          return { taken: [{ source, target, title }], refused: [] };
        },
      };
    },
  };
}

/**
 * Whether a source sets the path. What the trust in the server's own folder gives does not count.
 */
function isSet(config: Config, path: readonly string[]): boolean {
  return config.layerOf(path) !== null;
}

interface Counterparts {
  wanted: { path: string[]; value: string }[];
  /** Why the others are left. */
  left: string[];
}

function counterparts({ env, sandbox, ...others }: JsonObject, { cwd }: Scope): Counterparts {
  const rest = Object.keys(others).filter((key) => !ELSEWHERE.includes(key));
  const left =
    rest.length === 0 ? [] : [`heddle has no counterpart of these settings: ${rest.join(', ')}`];
  if (cwd !== null) {
    const own = Object.entries({ env, sandbox }).filter(([, value]) => value !== undefined);
    const names = own.map(([name]) => name).join(', ');
    return {
      wanted: [],
      left: own.length === 0 ? left : [...left, `a project cannot set these in heddle: ${names}`],
    };
  }
  const wanted: Counterparts['wanted'] = [];
  for (const [name, value] of Object.entries(isTable(env) ? env : {})) {
    if (isScalar(value) && /^[A-Za-z_]\w*$/.test(name))
      wanted.push({ path: ['shell_environment_policy', 'set', name], value: String(value) });
    else left.push(`env.${name} is not a variable with a text`);
  }
  if (isTable(sandbox) && sandbox.enabled === true)
    wanted.push({ path: ['sandbox_mode'], value: 'workspace-write' });
  return { wanted, left };
}

function isScalar(value: JsonValue): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
