/**
 * Closes parts in stages: those of one at the same time, after those of the stages before it. Goes
 * on if some fail. Rejects with the first failure, after all were closed.
 */
export async function closeInOrder(...stages: readonly (() => unknown)[][]): Promise<void> {
  const failures: unknown[] = [];
  for (const stage of stages) {
    const closed = await Promise.allSettled(stage.map(async (close) => close()));
    for (const result of closed) if (result.status === 'rejected') failures.push(result.reason);
  }
  if (failures.length > 0) throw failures[0];
}
