import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { EventLoopYield } from '../../../src/base/event-loop-yield.ts';
import type { PlannedChange } from '../../../src/tools/apply-patch/diff/planned-change.ts';
import { parsePatch } from '../../../src/tools/apply-patch/parse-patch.ts';
import { PinnedFolders } from '../../../src/tools/apply-patch/pinned-folders.ts';
import { planPatch } from '../../../src/tools/apply-patch/plan-patch.ts';
import { writePlan } from '../../../src/tools/apply-patch/write-plan.ts';
import { tempFolder } from '../../config/temp-folder.ts';

/** Makes a folder with these files, with mode 0644. */
export function folderWith(files: Record<string, string | Buffer>): string {
  const folder = join(tempFolder(), 'work');
  mkdirSync(folder);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
    chmodSync(join(folder, name), 0o644);
  }
  return folder;
}

export function patchOf(...lines: string[]): string {
  return ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');
}

/** Plans and writes a patch, and calls `between` after the plan. Returns the failure, or null. */
export async function apply(
  cwd: string,
  patch: string,
  between: (changes: PlannedChange[]) => void = () => {},
): Promise<string | null> {
  const folders = new PinnedFolders();
  try {
    const changes = await planPatch(await parsePatch(patch, new EventLoopYield()), {
      cwd,
      folders,
      mayRead: () => true,
      breaks: new EventLoopYield(),
    });
    between(changes);
    return (await writePlan(changes, folders)).failure;
  } finally {
    await folders.close();
  }
}

/**
 * Everything below a folder: the content of files, the targets of links, null for empty folders.
 */
export function tree(folder: string): Record<string, string | null> {
  const entries = readdirSync(folder).flatMap((name): [string, string | null][] => {
    const path = join(folder, name);
    if (lstatSync(path).isSymbolicLink()) return [[name, `-> ${readlinkSync(path)}`]];
    if (!lstatSync(path).isDirectory()) return [[name, readFileSync(path, 'utf8')]];
    const inner = Object.entries(tree(path));
    return inner.length === 0
      ? [[`${name}/`, null]]
      : inner.map(([rest, content]) => [`${name}/${rest}`, content]);
  });
  return Object.fromEntries(entries);
}
