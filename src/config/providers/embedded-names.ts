/** The name of the embedded model, and of its built-in provider. */
export const EMBEDDED = 'embedded';

/**
 * The names that mean the embedded model and its provider: older configurations, threads and
 * clients have `scripted`.
 */
export const EMBEDDED_NAMES: readonly string[] = [EMBEDDED, 'scripted'];

export function isEmbeddedName(name: string): boolean {
  return EMBEDDED_NAMES.includes(name);
}
