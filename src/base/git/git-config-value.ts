import { gitConfigEntries } from './git-config-entries.ts';

/**
 * Returns the last value of a key, such as `remote`, `origin`, `url`, in a text in git's config
 * format. Returns null if the key has no value, or one that is too long. Included files are not
 * read.
 */
export function gitConfigValue(
  text: string,
  [section, subsection, key]: readonly [section: string, subsection: string | null, key: string],
): string | null {
  const values = gitConfigEntries(text).entries.filter(
    (entry) =>
      entry.section === section &&
      entry.subsection === subsection &&
      entry.key === key &&
      entry.value !== null,
  );
  return values.at(-1)?.value ?? null;
}
