import { variableNamesSecret } from '../../secrets/names-secret.ts';
import { longestFirst } from '../../secrets/redact.ts';
import { holdsSecret, isSecretFlag } from '../../secrets/redact-likely-secrets.ts';

/**
 * Returns the values that no error and no log may show: those of secret variables, and arguments
 * that are or contain a secret.
 */
export function secretsOfProgram({
  args,
  env,
}: {
  args: readonly string[];
  env: Readonly<Record<string, string>>;
}): string[] {
  const ofVariables = Object.entries(env).flatMap(([key, value]) =>
    variableNamesSecret(key) || holdsSecret(value) ? [value] : [],
  );
  const ofArgs = args.flatMap((arg, index) => {
    if (isSecretFlag(args[index - 1])) return [arg];
    const [flag = '', ...value] = arg.split('=');
    if (value.length > 0 && (isSecretFlag(flag) || variableNamesSecret(flag)))
      return [value.join('=')];
    return holdsSecret(arg) ? [arg] : [];
  });
  return longestFirst([...ofVariables, ...ofArgs]);
}
