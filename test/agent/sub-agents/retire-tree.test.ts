import { expect, test } from 'vitest';
import { retireTree } from '../../../src/agent/lineage/retire-tree.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import type { AgentRecord } from '../../../src/store/thread-record.ts';

/** An agent at this depth, as the store lists it. */
function agent(id: string, depth: number): AgentRecord {
  const spawn = {
    parent_thread_id: 'root',
    depth,
    agent_path: null,
    agent_nickname: null,
    agent_role: null,
  };
  return { id, source: { subAgent: { thread_spawn: spawn } } } as unknown as AgentRecord;
}

test('the deepest agents are retired first, though the clock says that they are the oldest', async () => {
  const retired: string[] = [];
  const listed = [
    agent('grandchild', 2),
    agent('great-grandchild', 3),
    agent('child', 1),
    agent('other grandchild', 2),
  ];
  await retireTree(
    'root',
    {
      change: async () => {},
      takes: () => true,
      retired: ({ threadId }) => retired.push(threadId),
    },
    {
      store: { listAgents: async () => listed, agentIds: async () => listed.map(({ id }) => id) },
      retire: (_id, change) => change().then(() => false),
      retireUnloaded: async () => false,
    },
  );
  expect(retired).toEqual(['great-grandchild', 'other grandchild', 'grandchild', 'child', 'root']);
});

test.each([
  [new StoreError('store_failed', 'the store has failed', {}), ['child', 'root'], null],
  [new TypeError('a bug'), [], 'a bug'],
])(
  'agents that the store could not retire together are retired one by one, and no other error is hidden: %s',
  async (error, retired, failure) => {
    const done: string[] = [];
    const options = { change: async () => {}, changeAll: async () => {}, takes: () => true };
    const ended = retireTree(
      'root',
      { ...options, retired: ({ threadId }) => done.push(threadId) },
      {
        store: { listAgents: async () => [agent('child', 1)], agentIds: async () => ['child'] },
        retire: (_id, change) => change().then(() => false),
        retireUnloaded: () => Promise.reject(error),
      },
    );
    expect(
      await ended.then(
        () => null,
        ({ message }: Error) => message,
      ),
    ).toBe(failure);
    expect(done).toEqual(retired);
  },
);
