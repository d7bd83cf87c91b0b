import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { ThreadItem, Turn } from '../../../src/protocol/generated/types.ts';
import type { TestClient } from '../../support/test-client.ts';
import { commandTag } from './planned-agents.ts';

/**
 * The total of a thread at the end of a server, and how many responses the model had ended for it.
 */
interface Known {
  total: number;
  ended: number;
}

/**
 * Compares the tokens that the model has used with those that the servers of one tree announce and
 * store.
 */
export class TreeLedger {
  readonly #ended: ReadonlyMap<string, readonly number[]>;
  /** As they were at the start of the server. */
  readonly #known = new Map<string, Known>();

  constructor(ended: ReadonlyMap<string, readonly number[]>) {
    this.#ended = ended;
  }

  /**
   * Each announced total is the one before it and the last response. Returns the totals that were
   * announced last.
   */
  announced(client: TestClient): Map<string, number> {
    const totals = new Map([...this.#known].map(([id, { total }]) => [id, total]));
    for (const { threadId, tokenUsage } of client.notifications('thread/tokenUsage/updated')) {
      const { total, last } = tokenUsage;
      const before = totals.get(threadId) ?? 0;
      // Announced again, when the thread was resumed or its agents have used tokens.
      if (total.totalTokens === before) continue;
      expect([threadId, total.totalTokens]).toEqual([threadId, before + last.totalTokens]);
      totals.set(threadId, total.totalTokens);
    }
    return totals;
  }

  /**
   * Checks that the stored sum is the announced one. If the client did not hear all (`isWhole` is
   * false), it may have one response more.
   */
  stored(
    threadId: string,
    total: number,
    { announced, isWhole }: { announced: number; isWhole: boolean },
  ): void {
    const ended = this.#ended.get(threadId) ?? [];
    const last = ended.length > (this.#known.get(threadId)?.ended ?? 0) ? ended.at(-1) : undefined;
    const possible = !isWhole && last !== undefined ? [announced, announced + last] : [announced];
    expect({ threadId, total, possible }).toEqual({
      threadId,
      total: expect.toSatisfy((one: number) => possible.includes(one)),
      possible,
    });
    this.#known.set(threadId, { total, ended: ended.length });
  }
}

/** No turn and no item runs. */
export function expectSettled(turns: readonly Turn[]): void {
  for (const turn of turns) {
    expect(['completed', 'interrupted', 'failed']).toContain(turn.status);
    for (const item of turn.items)
      expect([item.type, 'status' in item ? item.status : null]).not.toContain('inProgress');
    for (const item of turn.items) if (item.type === 'collabAgentToolCall') expectWhole(item);
  }
}

function expectWhole({
  status,
  agentsStates,
  tool,
  receiverThreadIds,
}: Extract<ThreadItem, { type: 'collabAgentToolCall' }>): void {
  expect(['completed', 'failed']).toContain(status);
  if (tool === 'spawnAgent' && status === 'completed') expect(receiverThreadIds).toHaveLength(1);
  for (const id of Object.keys(agentsStates)) expect(receiverThreadIds).toContain(id);
}

/** The command lines of the tree's commands that still run. */
export function commandsLeft(seed: number): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
      return line.includes(commandTag(seed)) ? [line] : [];
    } catch {
      return [];
    }
  });
}
