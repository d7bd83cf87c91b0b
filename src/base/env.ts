/** Environment variables by name. */
export type Env = Readonly<Record<string, string | undefined>>;

/** The variables that are set. */
export function setVariables(env: Env): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
