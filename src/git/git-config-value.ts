import { gitConfigEntries } from './git-config-entries.ts';

/**
 * Returns the last value of a key, such as `remote`, `origin`, `url`, in a text in git's config format. Returns null if the key
 * has no value, or one that is too long. Included files are not read.
 */
export function gitConfigValue(
  text: string,
  [section, subsection, key]: readonly [section: string, subsection: string | null, key: string],
): string | null {
  const found = gitConfigEntries(text).filter((one) => one.section === section && one.subsection === subsection && one.key === key);
  return found.findLast(({ value }) => value !== null)?.value ?? null;
}
