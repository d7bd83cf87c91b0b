import { join } from 'node:path';
import { type Clock, systemClock } from '../base/clock.ts';
import { type FolderEntries, listFolderSync } from '../base/files/list-folder.ts';
import { readRegularFileSync } from '../base/files/read-regular-file.ts';
import { inSlices } from '../base/in-slices.ts';
import { SerialQueue } from '../base/keyed-queue.ts';
import { fileState } from '../base/paths/file-state.ts';
import { makeFolderSync } from '../base/paths/make-folder.ts';
import { hasErrorCode } from '../base/system-error-code.ts';
import { appendLine } from './trust/append-line.ts';

/** A rules file and its text. */
export interface RulesFile {
  path: string;
  text: string;
}

/**
 * The rules files, sorted by name, and a problem for each file or folder that could not be read.
 */
export interface RulesFiles {
  files: readonly RulesFile[];
  /**
   * The file that says for which commands, and in which projects, the rules of `default.rules`
   * hold. Null: there is none.
   */
  accepted: RulesFile | null;
  problems: readonly { path: string; message: string }[];
}

/**
 * The file of rules to which accepted amendments are appended. Other agents that share the home
 * also append to it.
 */
export const DEFAULT_RULES = 'default.rules';
/** heddle's own file: a JSON line for each amendment that a person accepted. */
const ACCEPTED = 'heddle-accepted.jsonl';
const FILES_MAX = 200;
/** The maximum number of entries of the folder, including those that are not rules files. */
const ENTRIES_MAX = 2000;
const FILE_BYTES_MAX = 1024 * 1024;
/**
 * The file system's clock is coarse: a file that changes twice in a short time can have the same
 * time of change.
 */
const SETTLING_MS = 2000;
/**
 * The work of reading a file, in the units of `EventLoopYield`. Most are small, and to read those
 * at once is fastest.
 */
const FILE_UNITS = 100;

/** The readings, and the one that has not begun: all callers until then share it. */
const readings = new SerialQueue();
let waiting: { home: string; files: Promise<RulesFiles> } | null = null;

/** The result of the last reading without problems, and the state in which the files were. */
let kept: { home: string; state: string; files: RulesFiles } | null = null;

/**
 * Reads `rules/*.rules` and `rules/heddle-accepted.jsonl` in the home. Never rejects: `problems`
 * reports files that cannot be read. Returns the same object while the files are the same, and had
 * not changed shortly before they were read.
 */
export function readRuleFiles(
  home: string,
  clock: Pick<Clock, 'now'> = systemClock,
): Promise<RulesFiles> {
  if (waiting?.home === home) return waiting.files;
  // Not the reading that runs: it may have read a file that has changed since.
  const read = readings.run(() => {
    if (waiting?.home === home) waiting = null;
    return readChanged(home, clock);
  });
  waiting = { home, files: read };
  return read;
}

async function readChanged(home: string, clock: Pick<Clock, 'now'>): Promise<RulesFiles> {
  const state = settledState(home, clock.now());
  if (state !== null && kept?.home === home && kept.state === state) return kept.files;
  const files = await readAll(home);
  const isSame =
    state !== null && files.problems.length === 0 && settledState(home, clock.now()) === state;
  kept = isSame ? { home, state, files } : null;
  return files;
}

/**
 * Returns the state of all rules files. Null: one of them may change again without a new time of
 * change, or cannot be looked at.
 */
function settledState(home: string, nowMs: number): string | null {
  const folder = join(home, 'rules');
  let names: string[];
  try {
    names = rulesIn(folder);
  } catch {
    // Reading them tells the problem.
    return null;
  }
  // The order is that of reading them.
  const states = [...names, ACCEPTED].map((name) => ({
    name,
    state: fileState(join(folder, name)),
  }));
  const isSettled = states.every(
    ({ state }) => state === null || state.changedAtMs + SETTLING_MS < nowMs,
  );
  return isSettled
    ? JSON.stringify(states.map(({ name, state }) => [name, state?.text ?? null]))
    : null;
}

async function readAll(home: string): Promise<RulesFiles> {
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
  for await (const name of inSlices(names, FILE_UNITS)) {
    const path = join(folder, name);
    const text = attempt(path, () => readText(path));
    if (text !== null) files.push({ path, text });
  }
  // Read last: a line of this file is written before the rule that it narrows, so no rule is ever
  // seen without its line.
  const path = join(folder, ACCEPTED);
  const text = attempt(path, () => readText(path));
  return { files, accepted: text === null ? null : { path, text }, problems };
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
 * Appends a rule to `rules/default.rules` in the home that allows commands with this prefix, unless
 * the file has that rule already. Throws if it cannot be written completely.
 */
export function appendAllowRule(home: string, prefix: readonly string[]): void {
  appendRule(
    home,
    `prefix_rule(pattern=[${prefix.map((word) => JSON.stringify(word)).join(', ')}], decision="allow")`,
  );
}

/**
 * Appends the line of a rule to `rules/default.rules` in the home, unless the file has it already.
 * Throws as `appendAllowRule` does.
 */
export function appendRule(home: string, rule: string): void {
  const path = inRules(home, DEFAULT_RULES);
  const text = readText(path) ?? '';
  if (!text.split('\n').includes(rule)) appendLine(path, rule, FILE_BYTES_MAX);
}

/**
 * Appends a line to the file that narrows the rules of `default.rules`. Throws if it cannot be
 * written completely.
 */
export function appendAccepted(home: string, line: string): void {
  appendLine(inRules(home, ACCEPTED), line, FILE_BYTES_MAX);
}

/** Returns the path of a file in `rules`, and makes that folder. */
function inRules(home: string, name: string): string {
  const folder = join(home, 'rules');
  makeFolderSync(folder, 0o700);
  return join(folder, name);
}
