import type { Random } from '../../process/hostile/random.ts';
import { settled } from '../../support/settled.ts';
import { type TestClient, text } from '../../support/test-client.ts';

/** A tree of agents, as a client sees it. */
export interface ShownTree {
  client: Pick<TestClient, 'request' | 'ask' | 'notifications' | 'count'>;
  rootId: string;
  /** Lets time pass; absent: it passes by itself. */
  advance?: (ms: number) => void;
}

/** Does something to a tree that a client can do. */
export async function disturb(
  { client, rootId, advance }: ShownTree,
  random: Random,
): Promise<void> {
  const { data } = await client.request('thread/loaded/list', {});
  const threadId = random.chance(0.5) || data.length === 0 ? rootId : random.pick(data);
  switch (random.below(6)) {
    case 0:
      await client.ask('turn/interrupt', { threadId: rootId, turnId: '' });
      return;
    case 1:
      await client.ask('turn/interrupt', { threadId, turnId: '' });
      return;
    case 2:
      await client.ask('turn/start', { threadId, input: text('go on') });
      return;
    case 3:
      advance?.(random.between(1_000, 700_000));
      return;
    default:
      await rest({ client, rootId }, random.below(8));
  }
}

/** Lets the tree go on for a while. */
export async function rest({ client, rootId }: ShownTree, rounds: number): Promise<void> {
  for (let left = rounds; left > 0; left--) await settled(client, rootId);
}

/** Interrupts everything, and waits until each turn that has begun has ended. */
export async function calm({ client, rootId }: ShownTree): Promise<void> {
  const { error } = await client.ask('turn/interrupt', { threadId: rootId, turnId: '' });
  if (error !== undefined) {
    // The end of the root's turn was decided already, so its agents go on.
    const { data } = await client.request('thread/loaded/list', {});
    for (const threadId of data) await client.ask('turn/interrupt', { threadId, turnId: '' });
  }
  const open = () => {
    const ended = new Set(client.notifications('turn/completed').map(({ turn }) => turn.id));
    return client.notifications('turn/started').filter(({ turn }) => !ended.has(turn.id));
  };
  await settled(client, rootId);
  await client.count(Number.POSITIVE_INFINITY, () => open().length === 0);
}
