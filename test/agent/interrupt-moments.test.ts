import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Model, ModelEvent } from '../../src/model/model.ts';
import { gatedStore } from '../support/gated-store.ts';
import { runs } from '../support/runs.ts';
import { type TestClient, text } from '../support/test-client.ts';
import { functionCall, isForSummary, message, response } from '../support/test-model.ts';
import { startServer } from '../support/test-server.ts';

/** With `HEDDLE_INTERRUPTS=1000`, so many. */
const TURNS = Number(process.env.HEDDLE_INTERRUPTS ?? runs(30, 15));
const HOOK = 'type = "command"\ncommand = "true"';
const CONFIG = `model = "test-model"
model_provider = "test"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.test]
base_url = "http://127.0.0.1:9"
${['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'].map((event) => `[[hooks.${event}]]\n[[hooks.${event}.hooks]]\n${HOOK}`).join('\n')}
`;

/** Calls the tools of the plan, one in each response, and then says something. */
class PlanModel implements Model {
  plan: ModelEvent[][] = [];

  async *stream(
    request: Parameters<Model['stream']>[0],
    signal: AbortSignal,
  ): AsyncGenerator<ModelEvent> {
    const next = isForSummary(request) ? undefined : this.plan.shift();
    for (const event of response(next ?? message('Hello.'))) {
      await setImmediate();
      if (signal.aborted) return;
      yield event as ModelEvent;
    }
  }
}

const CALLS = {
  plan: functionCall('update_plan', { plan: [] }),
  command: functionCall('exec_command', { cmd: 'true' }),
  patch: functionCall('apply_patch', {
    input: '*** Begin Patch\n*** Add File: x\n+x\n*** End Patch',
  }),
  agent: functionCall('spawn_agent', { message: 'Say hello.' }),
  wait: functionCall('wait_agent', { timeout_ms: 1 }),
  complete: functionCall('update_goal', { status: 'complete' }),
};

/** How a client begins each kind of turn. */
const BEGINNINGS: Record<string, (client: TestClient, threadId: string) => Promise<unknown>> = {
  turn: (client, threadId) => client.ask('turn/start', { threadId, input: text('go') }),
  goal: (client, threadId) => client.ask('thread/goal/set', { threadId, objective: 'all green' }),
  review: (client, threadId) =>
    client.ask('review/start', { threadId, target: { type: 'custom', instructions: 'Look.' } }),
  compaction: (client, threadId) => client.ask('thread/compact/start', { threadId }),
  command: (client, threadId) => client.ask('thread/shellCommand', { threadId, command: 'true' }),
};

/**
 * When the client interrupts: when it has read so many messages, so many rounds of the event loop
 * later, or during a write of the store.
 */
interface Moment {
  after: 'messages' | 'rounds' | 'writes';
  count: number;
}

interface Plan {
  kind: string;
  calls: (keyof typeof CALLS)[];
  moments: Moment[];
}

const plans: fc.Arbitrary<Plan> = fc.record({
  kind: fc.constantFrom('turn', 'turn', 'turn', ...Object.keys(BEGINNINGS)),
  calls: fc.array(fc.constantFrom(...(Object.keys(CALLS) as (keyof typeof CALLS)[])), {
    maxLength: 3,
  }),
  moments: fc.array(
    fc.record({
      after: fc.constantFrom('messages' as const, 'rounds' as const, 'writes' as const),
      count: fc.nat({ max: 30 }),
    }),
    { minLength: 1, maxLength: 2 },
  ),
});

test(`of ${TURNS} turns of all kinds, each interrupted at random moments, no accepted interrupt ends otherwise than interrupted`, {
  tags: 'seeded',
}, async () => {
  const model = new PlanModel();
  let onWrite = async () => {};
  const server = await startServer({
    config: CONFIG,
    otherModel: model,
    wrapStore: (store) => gatedStore(store, () => onWrite()),
  });
  const { client } = server;
  const outcomes = new Map<string, number>();
  const check = async ({ kind, calls, moments }: Plan) => {
    model.plan = calls.map((call) => CALLS[call]);
    const { thread } = await client.request('thread/start', {});
    const threadId = thread.id;
    let writes = 0;
    const writing: { count: number; reach: () => Promise<void> }[] = [];
    onWrite = async () => {
      writes++;
      for (const { reach } of writing.filter(({ count }) => count === writes)) await reach();
    };
    const begun = client.waitFor('turn/started', (params) => params.threadId === threadId);
    const ended = client.waitFor('turn/completed', (params) => params.threadId === threadId);
    const from = client.messages.length;
    let turnId: string | null = null;
    void begun.then(({ turn }) => {
      turnId = turn.id;
    });
    const interrupt = async () => {
      const id = turnId ?? (await begun).turn.id;
      const answer = await client.ask('turn/interrupt', { threadId, turnId: id });
      return answer.error === undefined;
    };
    const answers = moments.map(async ({ after, count }) => {
      if (after === 'messages')
        await client.count(
          from + count,
          () => client.notifications('turn/completed', (it) => it.threadId === threadId).length > 0,
        );
      if (after === 'rounds') for (let round = 0; round < count; round++) await setImmediate();
      if (after !== 'writes') return interrupt();
      return new Promise<boolean>((resolve) => {
        const reach = async () => {
          if (turnId === null) return resolve(interrupt());
          const accepted = interrupt();
          resolve(accepted);
          await accepted;
        };
        writing.push({ count, reach });
        void ended.then(() => resolve(interrupt()));
      });
    });
    await BEGINNINGS[kind]?.(client, threadId);
    const { turn } = await ended;
    onWrite = async () => {};
    const accepted = (await Promise.all(answers)).some(Boolean);
    const { thread: read } = await client.request('thread/read', { threadId, includeTurns: true });
    const stored = read.turns.find(({ id }) => id === turn.id)?.status;
    const outcome = `${accepted ? 'accepted' : 'refused'}: ${turn.status}, ${stored}`;
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    await client.ask('thread/goal/clear', { threadId });
    await client.ask('turn/interrupt', { threadId, turnId: '' });
    await client.ask('thread/archive', { threadId });
    if (accepted)
      expect({ announced: turn.status, stored }, kind).toEqual({
        announced: 'interrupted',
        stored: 'interrupted',
      });
    else expect(stored, kind).toBe(turn.status);
  };
  await fc.assert(fc.asyncProperty(plans, check), { numRuns: TURNS, endOnFailure: true });
  expect([...outcomes.keys()].sort()).toEqual([
    'accepted: interrupted, interrupted',
    'refused: completed, completed',
  ]);
});
