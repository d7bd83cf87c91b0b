import type { EventLoopYield } from '../../../base/event-loop-yield.ts';
import { inSlices } from '../../../base/in-slices.ts';
import type { FileUpdateChange } from '../../../protocol/generated/types.ts';
import type { PlannedChange } from './planned-change.ts';
import { unifiedDiff } from './unified-diff.ts';

/** The work for a file besides its lines, counted as lines. */
const LINES_A_FILE = 100;

/**
 * The changes of a plan for clients, sorted by path: the content of added and deleted files, a
 * unified diff of updated ones.
 */
export async function fileChanges(
  changes: readonly PlannedChange[],
  breaks: EventLoopYield,
): Promise<FileUpdateChange[]> {
  const shown: FileUpdateChange[] = [];
  for await (const change of inSlices(changes, LINES_A_FILE, breaks))
    shown.push(await fileChange(change, breaks));
  return shown.sort((one, other) => (one.path < other.path ? -1 : 1));
}

async function fileChange(
  { type, path, moveTo, before, after }: PlannedChange,
  breaks: EventLoopYield,
): Promise<FileUpdateChange> {
  switch (type) {
    case 'add':
      return { path, kind: { type }, diff: after ?? '' };
    case 'delete':
      return { path, kind: { type }, diff: before ?? '' };
    case 'update':
      return {
        path,
        kind: { type, move_path: moveTo },
        diff: await unifiedDiff(before ?? '', after ?? '', breaks),
      };
    default:
      return type satisfies never;
  }
}
