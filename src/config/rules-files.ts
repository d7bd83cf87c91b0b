import { join } from 'node:path';
import { type FolderEntries, listFolderSync } from '../base/files/list-folder.ts';
import { readRegularFileSync } from '../base/files/read-regular-file.ts';
import { makeFolderSync } from '../base/paths/make-folder.ts';
import { hasErrorCode } from '../base/system-error-code.ts';
import { appendLine } from './append-line.ts';

/** A rules file and its text. */
export interface RulesFile {
  path: string;
  text: string;
}

/** The rules files, sorted by name, and a problem for each file or folder that could not be read. */
export interface RulesFiles {
  files: readonly RulesFile[];
  problems: readonly { path: string; message: string }[];
}

const FILES_MAX = 200;
/** Of the folder, with the entries that are no rules files. */
const ENTRIES_MAX = 2000;
const FILE_BYTES_MAX = 1024 * 1024;

/** Reads `rules/*.rules` in the home. A file that cannot be read is reported in `problems`, not thrown. */
export function readRuleFiles(home: string): RulesFiles {
  const folder = join(home, 'rules');
  const files: RulesFile[] = [];
  const problems: { path: string; message: string }[] = [];
  const attempt = <T>(path: string, read: () => T): T | null => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      problems.push({ path, message: error.message });
      return null;
    }
  };
  const names = attempt(folder, () => rulesIn(folder)) ?? [];
  for (const name of names) {
    const path = join(folder, name);
    const text = attempt(path, () => readText(path));
    if (text !== null) files.push({ path, text });
  }
  return { files, problems };
}

function rulesIn(folder: string): string[] {
  let listed: FolderEntries;
  try {
    listed = listFolderSync(folder, ENTRIES_MAX);
  } catch (error) {
    if (hasErrorCode(error, ['ENOENT'])) return [];
    throw error;
  }
  if (listed.cut) throw new Error(`the folder has more than ${ENTRIES_MAX} entries`);
  const names = listed.entries.map(({ name }) => name).filter((name) => name.endsWith('.rules'));
  if (names.length > FILES_MAX) throw new Error(`there are more than ${FILES_MAX} rules files`);
  return names.sort();
}

/** Returns null if there is no such file. */
function readText(path: string): string | null {
  const file = readRegularFileSync(path, { bytesMax: FILE_BYTES_MAX });
  return file === null ? null : new TextDecoder('utf-8', { fatal: true }).decode(file.bytes);
}

/**
 * Appends a rule to `rules/default.rules` in the home that allows commands with this prefix, unless the file has that rule
 * already. Rules that other processes append at the same time are kept. Throws if the rule cannot be written completely, and
 * then removes what it wrote.
 */
export function appendAllowRule(home: string, prefix: readonly string[]): void {
  const folder = join(home, 'rules');
  makeFolderSync(folder, 0o700);
  const rule = `prefix_rule(pattern=[${prefix.map((word) => JSON.stringify(word)).join(', ')}], decision="allow")`;
  const path = join(folder, 'default.rules');
  const text = readText(path) ?? '';
  if (text.split('\n').includes(rule)) return;
  appendLine(path, rule);
}
