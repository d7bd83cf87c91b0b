// @module-tag slow
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { Model, ModelEvent, ModelRequest } from '../../../src/model/model.ts';
import { tempFolder } from '../../config/temp-folder.ts';
import { Random } from '../../process/hostile/random.ts';
import { CountingIds } from '../../support/counting-ids.ts';
import { Gate } from '../../support/gate.ts';
import { settled, taken } from '../../support/settled.ts';
import { text } from '../../support/test-client.ts';
import { functionCall, message, response } from '../../support/test-model.ts';
import { startServer, type TestServer, type TestServerOptions } from '../../support/test-server.ts';
import { configWith, ROOT } from './agents-server.ts';
import { calm, disturb, rest, type ShownTree } from './disturb-tree.ts';
import { agentIdsIn, PlannedAgents } from './planned-agents.ts';
import { commandsLeft, expectSettled, TreeLedger } from './tree-ledger.ts';

/** `HEDDLE_TREES_SEED=17 HEDDLE_TREES=1` repeats one tree. */
const TREES = Number(process.env.HEDDLE_TREES ?? 60);
const FIRST_SEED = Number(process.env.HEDDLE_TREES_SEED ?? 0);
const TREES_A_TEST = 20;
const config = configWith('[agents]\nmax_depth = 3\nmax_threads = 5\n');

class PlannedModel implements Model {
  readonly plan: PlannedAgents;

  constructor(plan: PlannedAgents) {
    this.plan = plan;
  }

  async *stream(
    { promptCacheKey: threadId, input, tools }: ModelRequest,
    signal: AbortSignal,
  ): AsyncGenerator<ModelEvent, void, undefined> {
    const offersAgents = tools.some(({ name }) => name === 'spawn_agent');
    const planned = this.plan.next(threadId, agentIdsIn(JSON.stringify(input)), { offersAgents });
    if (planned.hangs) await new Gate().pass(signal);
    if (signal.aborted) return;
    const { calls, inputTokens, outputTokens } = planned;
    const parts =
      calls.length === 0
        ? [message(planned.text)]
        : calls.map(({ name, args, callId }) => functionCall(name, args, { callId }));
    for (const step of response(...parts)) {
      if (step instanceof Gate || step.type === 'completed') continue;
      yield step;
      if (signal.aborted) return;
    }
    this.plan.gave(threadId, planned);
    const usage = { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
    yield {
      type: 'completed',
      usage: { ...usage, cachedInputTokens: 0, cacheWriteInputTokens: 0, reasoningOutputTokens: 0 },
    };
  }
}

/** A tree of one seed, and the server that it runs in. */
class Tree {
  readonly #seed: number;
  readonly #random: Random;
  readonly #plan: PlannedAgents;
  readonly #ledger: TreeLedger;
  #servers = 0;

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = new Random(seed);
    this.#plan = new PlannedAgents(seed);
    this.#ledger = new TreeLedger(this.#plan.ended);
  }

  async grow(): Promise<void> {
    let server = await this.#start({});
    await server.client.request('thread/start', {
      sandbox: 'danger-full-access',
      approvalPolicy: 'never',
    });
    for (let rounds = this.#random.between(1, 3); rounds > 0; rounds--) {
      await server.client.request('turn/start', { threadId: ROOT, input: text('go') });
      await rest(treeOf(server), this.#random.below(12));
      for (let steps = this.#random.between(1, 8); steps > 0; steps--)
        await disturb(treeOf(server), this.#random);
      server = await (this.#random.chance(0.5) ? this.#killed(server) : this.#restarted(server));
      await server.client.request('thread/resume', { threadId: ROOT });
      await expectSum(server);
    }
    await server.close();
  }

  #start(options: TestServerOptions): Promise<TestServer> {
    const number = this.#servers++;
    const ids = new CountingIds(1 + number * 100_000);
    return startServer({
      config,
      pid: 1 + number,
      otherModel: new PlannedModel(this.#plan),
      ids,
      ...options,
    });
  }

  async #restarted(server: TestServer): Promise<TestServer> {
    if (this.#random.chance(0.5)) {
      await calm(treeOf(server));
      // As it was summed up while the agents worked.
      await server.client.request('thread/resume', { threadId: ROOT });
      await expectSum(server);
    }
    await server.close();
    const announced = this.#ledger.announced(server.client);
    const next = await this.#start({ folder: server.folder, clock: server.clock });
    await this.#check(next, { announced, isWhole: true });
    return next;
  }

  /** Continues with the files as they are now. */
  async #killed(server: TestServer): Promise<TestServer> {
    await taken(server.client);
    const folder = tempFolder();
    // In a process of its own: if this one closed a file of the database, it would lose its locks.
    execFileSync('cp', ['-r', `${server.folder}/.`, folder]);
    const announced = this.#ledger.announced(server.client);
    const ended = this.#plan.mark();
    await server.close();
    this.#plan.backTo(ended);
    const next = await this.#start({ folder, clock: server.clock });
    await this.#check(next, { announced, isWhole: false });
    return next;
  }

  async #check(
    server: TestServer,
    { announced, isWhole }: { announced: ReadonlyMap<string, number>; isWhole: boolean },
  ): Promise<void> {
    expect(commandsLeft(this.#seed)).toEqual([]);
    const agents = (await server.store.listAgents(ROOT)).filter(({ listed }) => listed);
    for (const threadId of [ROOT, ...agents.map(({ id }) => id)]) {
      const { thread } = await server.client.request('thread/read', {
        threadId,
        includeTurns: true,
      });
      expectSettled(thread.turns);
      const { tokenUsage } = (await server.store.getThread(threadId)) ?? {};
      const total = tokenUsage?.usage.total.totalTokens ?? 0;
      this.#ledger.stored(threadId, total, { announced: announced.get(threadId) ?? 0, isWhole });
    }
  }
}

function treeOf({ client, clock }: TestServer): ShownTree {
  return { client, rootId: ROOT, advance: (ms) => clock.advance(ms) };
}

/** The tokens of the tree, as a client reads them, are those of its threads. */
async function expectSum({ client, store }: TestServer): Promise<void> {
  const own = (await store.getThread(ROOT))?.tokenUsage?.usage.total.totalTokens ?? 0;
  if (own === 0) return;
  let sum = own;
  for (const { id } of await store.listAgents(ROOT))
    sum += (await store.getThread(id))?.tokenUsage?.usage.total.totalTokens ?? 0;
  await client.waitFor('thread/tokenUsage/updated', ({ threadId }) => threadId === ROOT);
  await settled(client, ROOT);
  const last = client
    .notifications('thread/tokenUsage/updated', ({ threadId }) => threadId === ROOT)
    .at(-1)?.tokenUsage;
  expect((last?.withAgents ?? last?.total)?.totalTokens).toBe(sum);
}

for (let first = FIRST_SEED; first < FIRST_SEED + TREES; first += TREES_A_TEST) {
  test(`trees of agents from seed ${first}: whatever is interrupted, killed or restarted, everything ends and every token is counted`, async () => {
    for (let seed = first; seed < Math.min(first + TREES_A_TEST, FIRST_SEED + TREES); seed++) {
      await new Tree(seed).grow().catch((error: unknown) => {
        throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        });
      });
    }
  }, 300_000);
}
