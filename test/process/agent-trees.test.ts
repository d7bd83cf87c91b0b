// @module-tag slow
import { expect, onTestFinished, test, vi } from 'vitest';
import { isObject, type JsonObject } from '../../src/base/json-value.ts';
import { calm, disturb, rest } from '../agent/sub-agents/disturb-tree.ts';
import { agentIdsIn, type Planned, PlannedAgents } from '../agent/sub-agents/planned-agents.ts';
import { commandsLeft, expectSettled, TreeLedger } from '../agent/sub-agents/tree-ledger.ts';
import {
  created,
  message,
  ProviderServer,
  type Reply,
  refusing,
  sse,
} from '../model/provider-server.ts';
import { text } from '../support/test-client.ts';
import { Random } from './hostile/random.ts';
import { type HeddleProcess, type Place, place, providerToml, startHeddle } from './support.ts';

const TREES = Number(process.env.HEDDLE_PROCESS_TREES ?? 20);
const TREES_A_TEST = 5;
const AGENTS = '[agents]\nmax_depth = 3\nmax_threads = 5\n';

/** A provider that gives each thread its planned responses. */
function planned(plan: PlannedAgents): Reply {
  return (res, req, body) => {
    if (req.method === 'GET' || !isObject(body)) {
      refusing(404)(res, req, body);
      return;
    }
    const threadId = String(body.prompt_cache_key);
    const offersAgents = JSON.stringify(body.tools).includes('"spawn_agent"');
    const next = plan.next(threadId, agentIdsIn(JSON.stringify(body.input)), { offersAgents });
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(sse(created));
    if (next.hangs) return;
    for (const event of events(next)) res.write(sse(event));
    plan.gave(threadId, next);
    res.end(sse({ type: 'response.completed', response: { id: 'resp_1', usage: usage(next) } }));
  };
}

function events({ calls, text: answer }: Planned): object[] {
  if (calls.length === 0) return message(answer);
  return calls.map(({ name, args, callId }) => ({
    type: 'response.output_item.done',
    output_index: 0,
    item: {
      type: 'function_call',
      id: `fc_${callId}`,
      call_id: callId,
      name,
      arguments: JSON.stringify(args),
    },
  }));
}

function usage({ inputTokens, outputTokens }: Planned): JsonObject {
  const details = { input_tokens_details: null, output_tokens_details: null };
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    ...details,
  };
}

/** Kills or ends a server at some moment of its tree, and checks what the next one reads. */
async function replaced(
  heddle: HeddleProcess,
  where: Place,
  { random, rootId, seed, ledger }: Growth,
): Promise<HeddleProcess> {
  const wasKilled = random.chance(0.6);
  const isCalm = !wasKilled && random.chance(0.5);
  if (isCalm) await calm({ client: heddle, rootId });
  await (wasKilled ? heddle.kill() : heddle.finish());
  // After a kill, some of what it has written is still in the pipe.
  await heddle.ended;
  const announced = ledger.announced(heddle);
  await vi.waitFor(() => expect(commandsLeft(seed)).toEqual([]), { timeout: 10_000 });
  const next = await startHeddle(where);
  const { data } = await next.request('thread/list', { ancestorThreadId: rootId, limit: 1_000 });
  let sum = 0;
  for (const threadId of [...data.map(({ id }) => id), rootId]) {
    const { thread } = await next.request('thread/read', { threadId, includeTurns: true });
    expectSettled(thread.turns);
    await next.request('thread/resume', { threadId });
    await rest({ client: next, rootId }, 1);
    const [told] = next.notifications(
      'thread/tokenUsage/updated',
      (params) => params.threadId === threadId,
    );
    const total = told?.tokenUsage.total.totalTokens ?? 0;
    ledger.stored(threadId, total, { announced: announced.get(threadId) ?? 0, isWhole: isCalm });
    sum += total;
    if (threadId === rootId && total > 0)
      expect((told?.tokenUsage.withAgents ?? told?.tokenUsage.total)?.totalTokens).toBe(sum);
  }
  return next;
}

interface Growth {
  random: Random;
  rootId: string;
  seed: number;
  ledger: TreeLedger;
}

async function grow(seed: number): Promise<void> {
  const random = new Random(seed);
  const plan = new PlannedAgents(seed);
  const ledger = new TreeLedger(plan.ended);
  const provider = await ProviderServer.start(planned(plan));
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const where = place({ 'config.toml': `${providerToml(provider.port)}${AGENTS}` });
  let heddle = await startHeddle(where);
  const { thread } = await heddle.request('thread/start', {
    sandbox: 'danger-full-access',
    approvalPolicy: 'never',
  });
  for (let rounds = random.between(1, 2); rounds > 0; rounds--) {
    await heddle.request('turn/start', { threadId: thread.id, input: text('go') });
    await rest({ client: heddle, rootId: thread.id }, random.below(40));
    for (let steps = random.between(1, 8); steps > 0; steps--)
      await disturb({ client: heddle, rootId: thread.id }, random);
    heddle = await replaced(heddle, where, { random, rootId: thread.id, seed, ledger });
  }
  await heddle.finish();
}

for (let first = 0; first < TREES; first += TREES_A_TEST) {
  test(`the processes of trees from seed ${first}: killed or ended at any moment, they leave no command, no open turn and every token`, async () => {
    for (let seed = 1_000 + first; seed < 1_000 + Math.min(first + TREES_A_TEST, TREES); seed++) {
      await grow(seed).catch((error: unknown) => {
        throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        });
      });
    }
  }, 300_000);
}
