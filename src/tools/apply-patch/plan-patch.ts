import { join, resolve } from 'node:path';
import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import { isAbsent, systemErrorCode } from '../../base/system-error-code.ts';
import { type FileLocation, locateEntry, locateFile, pathOf } from '../../files/file-location.ts';
import { applyChunks } from './apply-chunks.ts';
import type { PlannedChange } from './diff/planned-change.ts';
import type { PatchOperation } from './parse-patch.ts';
import { PatchError } from './patch-error.ts';
import type { PinnedFolders } from './pinned-folders.ts';
import { readText } from './read-text.ts';

interface PlanOptions {
  /** The folder that relative paths start from. */
  cwd: string;
  folders: PinnedFolders;
  /** Whether the file at a real path may be read for the model. */
  mayRead: (real: string) => boolean;
  breaks: EventLoopYield;
}

/**
 * Verifies a whole patch against the files and returns its changes. Writes nothing. Throws a
 * PatchError if the patch does not match. If a file may not be read, the error contains no other
 * information about the file.
 */
export async function planPatch(
  operations: readonly PatchOperation[],
  deps: PlanOptions,
): Promise<PlannedChange[]> {
  refuseNamedTwice(operations, deps.cwd);
  const changes: PlannedChange[] = [];
  for (const operation of operations) {
    changes.push(await planned(operation, deps));
    await deps.folders.trim();
  }
  refuseWrittenTwice(changes);
  return changes;
}

function planned(operation: PatchOperation, deps: PlanOptions): Promise<PlannedChange> {
  const path = resolve(deps.cwd, operation.path);
  switch (operation.type) {
    case 'add':
      return reading(path, () => add(operation, path, deps));
    case 'delete':
      return reading(path, () => remove(operation, path, deps));
    case 'update':
      return reading(path, () => update(operation, path, deps));
    default:
      return operation satisfies never;
  }
}

async function add(
  { path: shown, text }: { path: string; text: string },
  path: string,
  deps: PlanOptions,
): Promise<PlannedChange> {
  const target = await fileAt(path);
  const before = await replacedText(target, path, deps);
  return {
    type: 'add',
    shown,
    path,
    moveTo: null,
    before,
    replaced: null,
    after: text,
    entry: target,
    target,
    mode: modeOf(target),
  };
}

async function remove(
  { path: shown }: { path: string },
  path: string,
  deps: PlanOptions,
): Promise<PlannedChange> {
  const [entry, file] = [await locateEntry(path), await fileAt(path)];
  const before = await existingText(file, path, deps);
  return {
    type: 'delete',
    shown,
    path,
    moveTo: null,
    before,
    replaced: null,
    after: null,
    entry,
    target: null,
    mode: modeOf(file),
  };
}

async function update(
  { path: shown, moveTo, chunks }: Extract<PatchOperation, { type: 'update' }>,
  path: string,
  deps: PlanOptions,
): Promise<PlannedChange> {
  const file = await fileAt(path);
  const before = await existingText(file, path, deps);
  const after = await applyChunks(before, chunks, { path, breaks: deps.breaks });
  const unmoved = { shown, path, moveTo: null, entry: file, target: file };
  const change = {
    type: 'update' as const,
    ...unmoved,
    before,
    replaced: null,
    after,
    mode: modeOf(file),
  };
  if (moveTo === null) return change;
  const destination = resolve(deps.cwd, moveTo);
  const [entry, target] = [await locateEntry(path), await locateEntry(destination)];
  // The file is moved onto itself, possibly by another spelling of its path.
  if (pathOf(entry) === pathOf(target)) return change;
  const replaced = await replacedText(target, destination, deps);
  return { ...change, shown: moveTo, moveTo: destination, replaced, entry, target };
}

async function fileAt(path: string): Promise<FileLocation> {
  const file = await locateFile(path);
  if (file.found?.isSymbolicLink())
    throw new PatchError(`${path} is a symbolic link that cannot be resolved`);
  return file;
}

/**
 * The content of a file that is replaced as a whole. It is only shown, so null if there is none or
 * it is not text.
 */
async function replacedText(
  file: FileLocation,
  path: string,
  deps: PlanOptions,
): Promise<string | null> {
  if (file.found?.isFile() !== true || !deps.mayRead(pathOf(file))) return null;
  return readText(file, path, deps).catch(() => null);
}

/**
 * The permission bits, without set-user-id and similar bits: a program with new content must not
 * keep those.
 */
function modeOf({ found }: FileLocation): number | null {
  return found === null ? null : Number(found.mode) & 0o777;
}

async function existingText(file: FileLocation, path: string, deps: PlanOptions): Promise<string> {
  if (file.found === null) throw new PatchError(`${path} does not exist`);
  if (!deps.mayRead(pathOf(file)))
    throw new PatchError(`the sandbox does not allow ${path} to be read`);
  if (file.found.isDirectory()) throw new PatchError(`${path} is a directory`);
  return readText(file, path, deps);
}

async function reading<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === null) throw error;
    throw new PatchError(
      isAbsent(error) ? `${path} does not exist` : `${path} cannot be read: ${code}`,
      { cause: error },
    );
  }
}

type Role = 'kept' | 'left' | 'reached';

/**
 * Refuses two operations for one path. A rename to a path that another rename or a delete removes
 * is allowed.
 */
function refuseNamedTwice(operations: readonly PatchOperation[], cwd: string): void {
  const roles = new Map<string, Role>();
  const claim = (path: string, role: Role) => {
    const other = roles.get(path);
    if (other === 'kept' || other === role || (other !== undefined && role === 'kept')) {
      throw new PatchError(`invalid patch: ${path} has more than one operation`);
    }
    roles.set(path, role);
  };
  for (const operation of operations) {
    const path = resolve(cwd, operation.path);
    const moveTo =
      operation.type === 'update' && operation.moveTo !== null
        ? resolve(cwd, operation.moveTo)
        : path;
    if (moveTo === path) claim(path, operation.type === 'delete' ? 'left' : 'kept');
    else {
      claim(path, 'left');
      claim(moveTo, 'reached');
    }
  }
}

/**
 * Refuses two changes of one file under two names, by links or by upper and lower case: one change
 * would be lost.
 */
function refuseWrittenTwice(changes: readonly PlannedChange[]): void {
  const names = new Map<string, string>();
  for (const { target, moveTo, path } of changes) {
    if (target === null) continue;
    const { dev, ino } = target.found ?? {};
    const isKept = moveTo === null && target.found !== null;
    for (const key of [join(target.folder, target.name), ...(isKept ? [`${dev}:${ino}`] : [])]) {
      const other = names.get(key);
      if (other !== undefined)
        throw new PatchError(`invalid patch: ${other} and ${moveTo ?? path} are the same file`);
      names.set(key, moveTo ?? path);
    }
  }
}
