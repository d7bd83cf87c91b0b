import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  bundleDefinitions,
  type Definitions,
  definitionName,
  type MethodTable,
  readSchema,
  type Schema,
} from '../../schema/bundle.ts';
import { writeFiles } from '../config/temp-folder.ts';
import { exampleServer } from '../mcp/mcp-thread.ts';
import type { Message } from '../support/test-client.ts';
import { type HeddleProcess, type Place, place, startHeddle } from './support.ts';

const SEEDS = [1, 2, 3];
const CONFIG = `model_provider = "scripted"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\n${exampleServer()}`;

const folder = join(import.meta.dirname, '..', '..', 'schema');
const definitions: Definitions = bundleDefinitions(folder);
const { clientRequests } = readSchema(join(folder, 'methods.json')) as unknown as MethodTable;
const served = Object.entries(clientRequests).flatMap(([method, { params, result }]) =>
  result === undefined || method === 'initialize' ? [] : [{ method, params: params ?? null }],
);

type Given = Record<string, unknown>;

/**
 * A value that fits the schema and has nothing that is optional. `given` has values by the names of
 * fields.
 */
function least(schema: Schema | boolean, name: string, given: Given): unknown {
  if (typeof schema === 'boolean') return {};
  if (Object.hasOwn(given, name)) return given[name];
  if (schema.$ref)
    return least(definitions[schema.$ref.replace('#/definitions/', '')] ?? {}, name, given);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const { properties = {}, required = [] } = schema;
  const own = Object.fromEntries(
    required.map((field) => [field, least(properties[field] ?? {}, field, given)]),
  );
  const [variant] = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? [];
  if (variant !== undefined) {
    const value = least(variant, name, given);
    return schema.properties ? { ...own, ...(value as Given) } : value;
  }
  if (schema.properties) return own;
  const values: Given = {
    string: 'x',
    integer: 1,
    number: 1,
    boolean: true,
    array: [],
    null: null,
  };
  return values[[schema.type ?? 'object'].flat()[0] ?? ''] ?? {};
}

/** Sends requests with ids that say what they are. */
class Requests {
  readonly sent: string[] = [];
  readonly #heddle: HeddleProcess;
  readonly #given: Given;

  constructor(heddle: HeddleProcess, given: Given) {
    this.#heddle = heddle;
    this.#given = given;
  }

  /** A request of each method, or of those that come here in this order. */
  ofAll(when: string, from = 0, to = served.length): void {
    const chosen = served.slice(from, to);
    const lines = chosen.map(({ method, params }) =>
      this.#line(
        when,
        method,
        params === null
          ? undefined
          : least({ $ref: `#/definitions/${definitionName(params)}` }, '', this.#given),
      ),
    );
    this.#heddle.send(lines.join('\n'));
  }

  one(when: string, method: string, params: unknown): void {
    this.#heddle.send(this.#line(when, method, params));
  }

  #line(when: string, method: string, params: unknown): string {
    const id = `${when} ${this.sent.length} ${method}`;
    this.sent.push(id);
    return JSON.stringify({ id, method, params });
  }

  answers(): Map<string, Message> {
    return new Map(
      this.#heddle.messages.flatMap((message) =>
        typeof message.id === 'string' && message.method === undefined
          ? [[message.id, message]]
          : [],
      ),
    );
  }
}

async function busyServer(): Promise<{
  heddle: HeddleProcess;
  where: Place;
  requests: Requests;
  threadId: string;
}> {
  const where = place({ 'config.toml': CONFIG });
  writeFiles(where.work, { 'file.txt': 'x' });
  const heddle = await startHeddle(where);
  const { thread } = await heddle.request('thread/start', {});
  const { turn } = await heddle.request('turn/start', {
    threadId: thread.id,
    input: [{ type: 'text', text: 'wait 60000', text_elements: [] }],
  });
  const path = join(where.work, 'file.txt');
  const given = {
    ...{ threadId: thread.id, turnId: turn.id, expectedTurnId: turn.id, objective: 'x', items: [] },
    ...{
      path,
      sourcePath: path,
      destinationPath: join(where.work, 'copy.txt'),
      cwd: where.work,
      roots: [where.work],
      dataBase64: 'eA==',
    },
    ...{
      command: ['sleep', '100'],
      server: 'ex',
      tool: 'hang',
      keyPath: 'model_verbosity',
      edits: [],
      query: 'file',
    },
    ...{ input: [{ type: 'text', text: 'x' }], savePath: join(where.work, 'feedback') },
  };
  return { heddle, where, requests: new Requests(heddle, given), threadId: thread.id };
}

test.each(SEEDS)(
  'each request of each method that was read before the server ends is answered, and says no more than that (seed %i)',
  async (seed) => {
    const { heddle, requests, threadId } = await busyServer();
    // What these wait for never comes.
    requests.one('open', 'command/exec', { command: ['sleep', '100'] });
    requests.one('open', 'mcpServer/tool/call', { threadId, server: 'ex', tool: 'hang' });
    requests.one('open', 'thread/shellCommand', { threadId, command: 'sleep 100' });
    // Deletes, archives and logs out too: only the last of them, so that the others find the
    // thread.
    const cut = Math.floor((served.length * seed) / (SEEDS.length + 1));
    requests.ofAll('before', 0, cut);
    const read = heddle.ask('account/read', {});
    await read;
    heddle.signal('SIGTERM');
    requests.ofAll('during', cut);
    for (let round = 0; round < 4 && !heddle.hasEnded; round++) {
      requests.ofAll('during');
      await setImmediate();
    }
    await heddle.exit;
    await heddle.ended;
    const answers = requests.answers();
    const unanswered = requests.sent.filter((id) => !id.startsWith('during') && !answers.has(id));
    expect(unanswered).toEqual([]);
    const late = [...answers].filter(([id]) => id.startsWith('during'));
    const wrong = late.flatMap(([id, { error }]) =>
      error === undefined || error.data.code === 'shutting_down' ? [] : [`${id}: ${error.message}`],
    );
    expect(wrong).toEqual([]);
    expect(late.length).toBeGreaterThan(0);
    const odd = [...answers].flatMap(([id, { error }]) =>
      ['internal_error', 'store_failed', 'thread_not_found'].includes(String(error?.data.code))
        ? [`${id}: ${error?.message}`]
        : [],
    );
    expect(odd).toEqual([]);
  },
);
