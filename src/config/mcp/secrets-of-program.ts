import { variableNamesSecret } from '../../secrets/names-secret.ts';
import { SECRET_CHARS_MIN } from '../../secrets/redact.ts';
import { holdsSecret, isSecretFlag } from '../../secrets/redact-likely-secrets.ts';

/** Returns the values that no error and no log may show: those of secret variables, and arguments that are or contain a secret. */
export function secretsOfProgram({ args, env }: { args: readonly string[]; env: Readonly<Record<string, string>> }): string[] {
  const ofVariables = Object.entries(env).flatMap(([key, value]) => (variableNamesSecret(key) || holdsSecret(value) ? [value] : []));
  const ofArgs = args.flatMap((arg, index) => {
    if (isSecretFlag(args[index - 1])) return [arg];
    const [flag = '', ...value] = arg.split('=');
    if (value.length > 0 && (isSecretFlag(flag) || variableNamesSecret(flag))) return [value.join('=')];
    return holdsSecret(arg) ? [arg] : [];
  });
  return longEnough([...ofVariables, ...ofArgs]);
}

/** The longest comes first, as `redact` needs it. */
export function longEnough(secrets: readonly string[]): string[] {
  return secrets.filter(({ length }) => length >= SECRET_CHARS_MIN).sort((a, b) => b.length - a.length);
}
