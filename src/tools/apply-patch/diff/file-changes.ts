import type { EventLoopYield } from '../../../base/event-loop-yield.ts';
import type { FileUpdateChange } from '../../../protocol/generated/types.ts';
import type { PlannedChange } from '../plan-patch.ts';
import { unifiedDiff } from './unified-diff.ts';

/** What a file costs beside its lines. */
const LINES_A_FILE = 100;

/** A plan as clients see it, by path: whole content of files that come or go, a unified diff of those that change. */
export async function fileChanges(changes: readonly PlannedChange[], breaks: EventLoopYield): Promise<FileUpdateChange[]> {
  const shown: FileUpdateChange[] = [];
  for (const change of changes) {
    shown.push(await fileChange(change, breaks));
    await breaks.worked(LINES_A_FILE);
  }
  return shown.sort((one, other) => (one.path < other.path ? -1 : 1));
}

async function fileChange({ type, path, moveTo, before, after }: PlannedChange, breaks: EventLoopYield): Promise<FileUpdateChange> {
  switch (type) {
    case 'add':
      return { path, kind: { type }, diff: after ?? '' };
    case 'delete':
      return { path, kind: { type }, diff: before ?? '' };
    case 'update':
      return { path, kind: { type, move_path: moveTo }, diff: await unifiedDiff(before ?? '', after ?? '', breaks) };
    default:
      return type satisfies never;
  }
}
