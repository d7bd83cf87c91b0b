import { Config } from '../config/config.ts';
import { readOr } from '../config/config-error.ts';
import { flagsLayer } from '../config/layers/request-layer.ts';
import { loadToml } from '../config/layers/toml.ts';
import { SETTING_NAMES } from '../config/settings.ts';

/**
 * Resolves with a sentence about the first of the `key=value` strings of the command line that is none, or whose value is wrong whatever
 * config.toml says. Null: there is none. Unknown keys are not looked at, since clients pass those of other agents.
 */
export async function overridesProblem(overrides: readonly string[]): Promise<string | null> {
  const toml = await loadToml();
  const message = (read: () => unknown) =>
    readOr(
      () => {
        read();
        return null;
      },
      ({ problem }) => problem,
    );
  const malformed = message(() => flagsLayer(overrides, toml));
  if (malformed !== null) return malformed;
  const layer = { ...flagsLayer(overrides, toml), label: '' };
  const config = new Config({ home: '', env: {}, modelGiven: true, layers: [layer], values: layer.config });
  const problems = SETTING_NAMES.map((name) => message(() => config.get(name)));
  const first = problems.find((problem) => problem !== null);
  return first === undefined ? null : `-c ${first}`;
}
