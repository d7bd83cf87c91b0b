import { join } from 'node:path';
import { suggestKey } from '../base/text/suggest-key.ts';
import { readOr } from '../config/config-error.ts';
import { readConfigText } from '../config/layers/layer.ts';
import { listed } from './command-line/listed.ts';
import { OWN_VARIABLES } from './variable-problems.ts';

/**
 * Returns a sentence for each of these variables that look like heddle's, and that it does not
 * read. Those that config.toml or the settings of the command line name are the user's own, such as
 * the `env_key` of a provider.
 */
export function unknownVariableProblems(
  names: readonly string[],
  { home, overrides }: { home: string; overrides: readonly string[] },
): string[] {
  const text = readOr(
    () => readConfigText(join(home, 'config.toml')),
    () => null,
  );
  const settings = [text ?? '', ...overrides].join('\n');
  return names.filter((name) => !settings.includes(name)).map(problemOf);
}

function problemOf(name: string): string {
  const nearest = suggestKey(name, OWN_VARIABLES);
  const known = listed(OWN_VARIABLES, 'and');
  return `${name}: heddle does not read this variable, but ${known}${nearest === null ? '' : `: did you mean ${nearest}?`}`;
}
