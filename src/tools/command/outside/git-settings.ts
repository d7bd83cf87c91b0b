import { dirname, join, resolve } from 'node:path';
import { readRegularFile } from '../../../base/files/read-regular-file.ts';
import {
  type GitConfigEntry,
  gitConfigEntries,
  isInclude,
} from '../../../base/git/git-config-entries.ts';

/** To read the settings in a file of this size takes about 15 ms. */
const SETTINGS_BYTES_MAX = 256 * 1024;
const FILES_MAX = 32;

/** Settings of git, from files and from all files that these may include. */
export interface GitSettings {
  /** The absolute paths of the files. Some may not exist. */
  files: readonly string[];
  entries: readonly GitConfigEntry[];
}

interface Place {
  /** The folder that relative paths start from. */
  from: string;
  /** The user's home. Empty: not known. */
  home: string;
}

/**
 * Reads files of settings and those that they include, even if the condition of an include does not
 * hold. Returns null if a file cannot be read or understood, or if there are more than 32.
 */
export async function gitSettings(
  from: readonly string[],
  home: string,
): Promise<GitSettings | null> {
  const files = new Set(from);
  const all: (readonly GitConfigEntry[])[] = [];
  // The set grows while it is read: settings include further files.
  for (const file of files) {
    const text = await settingsAt(file);
    const { entries, isUnderstood } = gitConfigEntries(text ?? '');
    if (text === null || !isUnderstood) return null;
    all.push(entries);
    const included = includedFiles(entries, { from: dirname(file), home });
    if (included === null) return null;
    for (const path of included) files.add(path);
    if (files.size > FILES_MAX) return null;
  }
  return { files: [...files], entries: all.flat() };
}

/** The files that settings include. Null: one of them is unknown. */
function includedFiles(entries: readonly GitConfigEntry[], place: Place): string[] | null {
  return settingPaths(entries.filter(isInclude), place);
}

/**
 * Returns the folders of hooks that settings name, absolute. Returns null if one of them is not
 * certain.
 */
export function hooksPaths({ entries }: GitSettings, place: Place): string[] | null {
  return settingPaths(
    entries.filter(({ section, key }) => section === 'core' && key === 'hookspath'),
    place,
  );
}

/** The files with the settings of the machine and the user. */
export function userSettingsFiles({
  HOME = '',
  XDG_CONFIG_HOME = '',
}: Readonly<Record<string, string | undefined>>): string[] {
  const configHome =
    XDG_CONFIG_HOME === '' && HOME !== '' ? join(HOME, '.config') : XDG_CONFIG_HOME;
  return [
    '/etc/gitconfig',
    ...(configHome === '' ? [] : [join(configHome, 'git', 'config')]),
    ...(HOME === '' ? [] : [join(HOME, '.gitconfig')]),
  ];
}

function settingPaths(entries: readonly GitConfigEntry[], place: Place): string[] | null {
  const values = entries.flatMap(({ value }) => (value === null ? [] : [value]));
  const paths = values.map((value) => settingPath(value, place)).filter((path) => path !== null);
  return paths.length === values.length ? paths : null;
}

/**
 * A path in settings, absolute. Null: it starts from the home of another user, from git's own
 * folder, or from no known home.
 */
function settingPath(value: string, { from, home }: Place): string | null {
  if (value.startsWith('~/') && home !== '') return join(home, value.slice(2));
  return value.startsWith('~') || value.startsWith('%(') ? null : resolve(from, value);
}

/** The text of a file, empty if there is none. Null: it cannot be read completely. */
async function settingsAt(path: string): Promise<string | null> {
  try {
    return (
      (await readRegularFile(path, { bytesMax: SETTINGS_BYTES_MAX }))?.bytes.toString('utf8') ?? ''
    );
  } catch {
    return null;
  }
}
