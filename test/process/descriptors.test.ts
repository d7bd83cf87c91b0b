// @module-tag slow
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import type { ClientRequests } from '../../src/protocol/generated/types.ts';
import { writeFiles } from '../config/temp-folder.ts';
import { exampleServer } from '../mcp/mcp-thread.ts';
import { type HeddleProcess, type Place, place, startHeddle } from './support.ts';

const CONFIG = `model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "workspace-write"
notify = ["/bin/true"]
[sandbox_workspace_write]
network_access = true
[features.network_proxy.domains]
"denied.example.com" = "deny"
[[hooks.Stop]]
[[hooks.Stop.hooks]]
type = "command"
command = "/bin/true"
${exampleServer()}`;

const REASON = /EMFILE|too many open files|no file descriptors|limit of watches/i;
const LIMIT_AFTERWARDS = 4_096;
const CHANGE_LIMITS = 'prlimit';

/** Lets the server open only so many files more. */
function leave(spare: number, { pid }: HeddleProcess): void {
  const used = new Set(readdirSync(`/proc/${pid}/fd`).map(Number));
  let limit = 0;
  for (let free = 0; free < spare || used.has(limit); limit++) if (!used.has(limit)) free++;
  limitTo(limit, pid);
}

function limitTo(files: number, pid: number): void {
  execFileSync(CHANGE_LIMITS, ['--pid', `${pid}`, `--nofile=${files}:`]);
}

/**
 * What the server does for clients with files, sockets, processes and threads: the text of each
 * result, or the reason of the error.
 */
class Uses {
  readonly #heddle: HeddleProcess;
  readonly #place: Place;
  #number = 0;

  constructor(heddle: HeddleProcess, where: Place) {
    this.#heddle = heddle;
    this.#place = where;
  }

  async all(): Promise<Record<string, string>> {
    const { work } = this.#place;
    const name = `${this.#number++}`;
    const inWork = (file: string) => `${work}/${file}`;
    const uses: Record<string, () => Promise<string>> = {
      command: () => this.#turn('exec_command', { cmd: 'cat file.txt' }),
      terminal: () => this.#turn('exec_command', { cmd: 'cat file.txt', tty: true }),
      patch: () =>
        this.#turn('apply_patch', {
          input: `*** Begin Patch\n*** Add File: patched-${name}\n+x\n*** End Patch`,
        }),
      'command/exec': () => this.#ask('command/exec', { command: ['cat', 'file.txt'], cwd: work }),
      'process/spawn': () =>
        this.#ask('process/spawn', {
          command: ['cat', 'file.txt'],
          cwd: work,
          processHandle: name,
        }),
      'fs/readFile': () => this.#ask('fs/readFile', { path: inWork('file.txt') }),
      'fs/readDirectory': () => this.#ask('fs/readDirectory', { path: inWork('folder') }),
      'fs/writeFile': () =>
        this.#ask('fs/writeFile', { path: inWork(`written-${name}`), dataBase64: 'eA==' }),
      'fs/copy': () =>
        this.#ask('fs/copy', {
          sourcePath: inWork('file.txt'),
          destinationPath: inWork(`copied-${name}`),
        }),
      'fs/watch': () => this.#ask('fs/watch', { path: work, watchId: name }),
      fuzzyFileSearch: () =>
        this.#ask('fuzzyFileSearch', { query: 'one', roots: [inWork('folder')] }),
      'config/value/write': () => this.#write(),
      'thread/list': async () =>
        this.#outcome(await this.#heddle.ask('thread/list', {}), () => 'listed'),
      'model/list': () => this.#ask('model/list', {}),
      'mcpServer/tool/call': () => this.callTool(),
    };
    const outcomes: Record<string, string> = {};
    for (const [use, run] of Object.entries(uses)) outcomes[use] = await run();
    return outcomes;
  }

  async #ask<Method extends keyof ClientRequests & string>(
    method: Method,
    params: ClientRequests[Method]['params'],
  ): Promise<string> {
    return this.#outcome(await this.#heddle.ask(method, params), (result) =>
      JSON.stringify(result),
    );
  }

  #outcome(
    { result, error }: Awaited<ReturnType<HeddleProcess['ask']>>,
    text: (result: never) => string,
  ): string {
    return error === undefined ? text(result as never) : `error: ${error.message}`;
  }

  async #write(): Promise<string> {
    const write = { keyPath: 'model_verbosity', value: 'low', mergeStrategy: 'replace' } as const;
    return this.#outcome(
      await this.#heddle.ask('config/value/write', write),
      ({ status }: { status: string }) => status,
    );
  }

  async #start(): Promise<{ threadId: string } | string> {
    const { result, error } = await this.#heddle.ask('thread/start', { cwd: this.#place.work });
    return error === undefined
      ? { threadId: (result as { thread: { id: string } }).thread.id }
      : `error: ${error.message}`;
  }

  /**
   * Runs a turn that calls this tool: the status and output of its item, else what the model was
   * told.
   */
  async #turn(tool: string, args: object): Promise<string> {
    const started = await this.#start();
    if (typeof started === 'string') return started;
    const { threadId } = started;
    const input = [
      {
        type: 'text' as const,
        text: `call ${tool} ${JSON.stringify(args)}\nsay Done.`,
        text_elements: [],
      },
    ];
    const { result, error } = await this.#heddle.ask('turn/start', { threadId, input });
    if (error !== undefined) return `error: ${error.message}`;
    const { turn } = result as { turn: { id: string } };
    const { status, error: failure } = await this.#heddle.turnCompleted(turn.id);
    if (status !== 'completed') return `error: ${failure?.message}`;
    const items = this.#heddle.messages.flatMap(({ method, params }) => {
      const { threadId: of, item } = (params ?? {}) as {
        threadId?: string;
        item?: { type: string; status?: string; aggregatedOutput?: string };
      };
      return method === 'item/completed' && of === threadId && item?.status !== undefined
        ? [item]
        : [];
    });
    return (
      items.map((item) => `${item.type} ${item.status} ${item.aggregatedOutput ?? ''}`).join() ||
      'error: too many open files, says the model'
    );
  }

  async callTool(): Promise<string> {
    const started = await this.#start();
    if (typeof started === 'string') return started;
    return this.#ask('mcpServer/tool/call', {
      ...started,
      server: 'ex',
      tool: 'echo',
      arguments: { message: 'm' },
    });
  }
}

test.each([
  [0, 'a new server'],
  [7, 'a new server'],
  [4, 'a used server'],
])(
  'with %i file descriptors left in %s, each use works or says so, and all work again later',
  { timeout: 120_000 },
  async (spare, which) => {
    const where = place({ 'config.toml': CONFIG });
    writeFiles(where.work, { 'file.txt': 'text', 'folder/one.txt': '1' });
    const heddle = await startHeddle(where, { errorsLogged: true });
    const uses = new Uses(heddle, where);
    if (which === 'a used server') await uses.all();
    leave(spare, heddle);
    const few = await uses.all();
    limitTo(LIMIT_AFTERWARDS, heddle.pid);
    // MCP servers that were lost are started again in the background.
    await vi.waitFor(async () => expect(await uses.callTool()).not.toMatch(/^error/), {
      timeout: 40_000,
      interval: 100,
    });
    const again = await uses.all();
    expect(Object.values(again).filter((outcome) => outcome.startsWith('error'))).toEqual([]);
    expect(again).toMatchObject({
      command: 'commandExecution completed text',
      terminal: 'commandExecution completed text',
      fuzzyFileSearch: expect.stringContaining('one.txt'),
      'fs/readFile': JSON.stringify({ dataBase64: 'dGV4dA==' }),
    });
    const unexplained = Object.entries(few).filter(
      ([use, outcome]) => outcome !== again[use] && !REASON.test(outcome),
    );
    // Without a configuration, no models are listed.
    expect(unexplained.filter(([use]) => use !== 'model/list')).toEqual([]);
    expect(Object.values(few).some((outcome) => REASON.test(outcome))).toBe(true);
  },
);
