import { Config } from './config.ts';
import type { Layer } from './layers/layer.ts';
import { flagsLayer } from './layers/request-layer.ts';
import { SETTING_NAMES } from './settings/settings.ts';
import { readOr } from './toml/config-error.ts';
import { loadToml } from './toml/toml.ts';

/**
 * Resolves with a sentence about the first of the `key=value` strings of the command line that is
 * none, or whose value is wrong whatever config.toml says. Null: there is none. Unknown keys are
 * not looked at, since clients pass those of other agents.
 */
export async function overridesProblem(overrides: readonly string[]): Promise<string | null> {
  const toml = await loadToml();
  return layerProblem(() => flagsLayer(overrides, toml), '-c ');
}

/**
 * The same for settings that `read` returns. It may throw a ConfigError. `place` stands before the
 * name of a setting.
 */
export function layerProblem(read: () => Layer, place: string): string | null {
  const message = (work: () => unknown) =>
    readOr(
      () => {
        work();
        return null;
      },
      ({ problem }) => problem,
    );
  const malformed = message(read);
  if (malformed !== null) return malformed;
  const layer = { ...read(), label: '' };
  const config = new Config({
    home: '',
    env: {},
    modelGiven: true,
    layers: [layer],
    values: layer.config,
  });
  const problems = SETTING_NAMES.map((name) => message(() => config.get(name)));
  const first = problems.find((problem) => problem !== null);
  return first === undefined ? null : `${place}${first}`;
}
