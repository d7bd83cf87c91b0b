import { dirname, join, resolve } from 'node:path';
import { readRegularFile } from '../../../base/files/read-regular-file.ts';
import { gitConfigEntries } from '../../../git/git-config-entries.ts';

const SETTINGS_BYTES_MAX = 1024 * 1024;
const FILES_MAX = 32;

/**
 * Returns the folders of hooks that the settings of the machine and the user name, for whatever repository. A relative one starts
 * from the repository's working tree.
 */
export async function userHooksPaths({ HOME = '', XDG_CONFIG_HOME = '' }: Readonly<Record<string, string | undefined>>): Promise<string[]> {
  const configHome = XDG_CONFIG_HOME === '' ? join(HOME, '.config') : XDG_CONFIG_HOME;
  const files = ['/etc/gitconfig', join(configHome, 'git', 'config'), join(HOME, '.gitconfig')];
  const named: string[] = [];
  const expanded = (path: string) => (path.startsWith('~/') ? join(HOME, path.slice(2)) : path);
  // The list grows while it is read: settings include further files.
  for (const file of files) {
    const { entries } = gitConfigEntries(await settingsAt(file));
    const values = (name: string) =>
      entries.flatMap(({ section, key, value }) => (value !== null && name === `${section}.${key}` ? [expanded(value)] : []));
    named.push(...values('core.hookspath'));
    const included = [...values('include.path'), ...values('includeif.path')].map((path) => resolve(dirname(file), path));
    files.push(...included.slice(0, Math.max(0, FILES_MAX - files.length)));
  }
  return named;
}

async function settingsAt(path: string): Promise<string> {
  try {
    return (await readRegularFile(path, { bytesMax: SETTINGS_BYTES_MAX }))?.bytes.toString('utf8') ?? '';
  } catch {
    return '';
  }
}
