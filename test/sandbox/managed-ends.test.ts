// @module-tag slow
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { buildSync } from 'esbuild';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createBubblewrap } from '../../src/sandbox/linux/create-bubblewrap.ts';
import { LocalListeners } from '../../src/sandbox/local-listeners.ts';
import type { ProcessSpec } from '../../src/sandbox/processes/processes.ts';
import { linkOf } from '../support/proc-files.ts';
import { ConfinedWorld } from './confined-world.ts';
import { PATH, run, systemProcesses } from './processes.ts';

let world: ConfinedWorld;

beforeEach(() => {
  world = new ConfinedWorld();
});

afterEach(() => world.close());

function managed(spec: Partial<ProcessSpec> = {}, text = 'answer'): Partial<ProcessSpec> {
  const serve = (socket: Socket) => {
    socket.on('error', () => {});
    socket.once('data', () =>
      socket.end(
        `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`,
      ),
    );
  };
  return {
    bounds: world.bounds({ managedNetwork: true }),
    serve,
    cwd: world.workspace,
    env: { PATH },
    ...spec,
  };
}

function numbersIn(folder: string): number[] {
  return readdirSync(folder).map(Number).filter(Number.isInteger);
}

/** The processes in a network namespace, which is named as the link of a process names it. */
function processesIn(namespace: string): number[] {
  return numbersIn('/proc').filter((pid) => linkOf(`/proc/${pid}/ns/net`) === namespace);
}

function openFiles(): number {
  return numbersIn('/proc/self/fd').length;
}

/** Waits for something that another process does. */
function eventually(check: () => void): Promise<void> {
  return vi.waitFor(check, { timeout: 10_000, interval: 5 });
}

const NAMESPACE = 'readlink /proc/self/ns/net';

describe('when a command ends', () => {
  test('a connection that it left open is closed, also if a process of it still holds it', async () => {
    const processes = systemProcesses({ sandbox: world.sandbox });
    const served: Socket[] = [];
    const serve = (socket: Socket) => void served.push(socket.on('error', () => {}).resume());
    const script =
      'exec 3<>/dev/tcp/127.0.0.1/3128; echo hello >&3; setsid sleep 1000 <&3 >&3 2>&3 & exit 0';
    const command = await run(processes, ['bash', '-c', script], managed({ serve }));
    await command.ended;
    await eventually(() =>
      expect(served.map(({ destroyed, readableEnded }) => destroyed || readableEnded)).toEqual([
        true,
      ]),
    );
  });

  test.each([null, { rows: 24, cols: 80 }])(
    'or is killed, no process is left in its namespace (terminal: %j)',
    async (terminal) => {
      const processes = systemProcesses({ sandbox: world.sandbox });
      const script = `${NAMESPACE}; (setsid sleep 1000 >/dev/null 2>&1 &); echo up; sleep 1000`;
      const command = await run(processes, script, managed({ terminal }));
      await command.says('up');
      const namespace = /net:\[\d+\]/.exec(command.text.stdout)?.[0] ?? '';
      expect(processesIn(namespace).length).toBeGreaterThan(2);
      await command.kill();
      expect(processesIn(namespace)).toEqual([]);
      const next = await run(processes, NAMESPACE, managed());
      await next.ended;
      // In this namespace, or in the one that was prepared ahead, whichever was ready first.
      expect(next.text.stdout).toMatch(/^net:\[\d+\]\n$/);
    },
  );

  test('with processes in the background, they end too, before another command gets the namespace', async () => {
    const processes = systemProcesses({ sandbox: world.sandbox });
    const command = await run(
      processes,
      `${NAMESPACE}; (setsid sleep 1000 >/dev/null 2>&1 &)`,
      managed(),
    );
    await command.ended;
    await eventually(() => expect(processesIn(command.text.stdout.trim())).toEqual([]));
  });
});

/** Makes listeners, and tells when those of commands that have ended are ready for the next. */
class WatchedListeners extends LocalListeners {
  #emptied = 0;
  #onEmptied = () => {};

  override async receive(...args: Parameters<LocalListeners['receive']>) {
    const inner = await super.receive(...args);
    const serve: typeof inner.serve = async (server, credential) => {
      const connections = await inner.serve(server, credential);
      if (server === null) this.#emptied++;
      this.#onEmptied();
      return connections;
    };
    return {
      pid: inner.pid,
      serve,
      endSender: () => inner.endSender(),
      close: () => inner.close(),
    };
  }

  /**
   * Resolves when so many commands have left their namespaces. Each is emptied at the end of the
   * command, and again afterwards.
   */
  async left(commands: number): Promise<void> {
    while (this.#emptied < 2 * commands)
      await new Promise<void>((resolve) => (this.#onEmptied = resolve));
    await setImmediate();
  }
}

test('a command uses a namespace that an earlier one has left, or the one that is prepared ahead, in terminals too', async () => {
  const listeners = new WatchedListeners(systemClock);
  // A busy machine may take long to end the processes of a command. Then its namespace is given up.
  const clock = { ...systemClock, monotonic: () => 0 };
  const processes = systemProcesses({
    sandbox: createBubblewrap({ ...world.sandboxDeps(), clock, listeners }),
  });
  const seen = new Set<string>();
  for (let index = 0; index < 10; index++) {
    const command = await run(
      processes,
      NAMESPACE,
      managed({ terminal: index % 2 === 0 ? null : { rows: 24, cols: 80 } }),
    );
    await command.ended;
    seen.add(command.text.stdout.trim());
    await listeners.left(index + 1);
  }
  expect(seen.size).toBeLessThanOrEqual(2);
});

test.each([null, { rows: 24, cols: 80 }])(
  'no command inherits a file of a namespace or of a proxy (terminal: %j)',
  async (terminal) => {
    const processes = systemProcesses({ sandbox: world.sandbox });
    const holder = await run(
      processes,
      'curl -s http://a.example/; read line',
      managed({ input: true }),
    );
    await holder.says('answer');
    for (const spec of [managed(), { bounds: world.bounds() }, { bounds: null }]) {
      const list = await run(
        processes,
        'readlink /proc/self/fd/* | grep -v -E "^(pipe:|/dev/null|/dev/pts/|/proc/)"; echo end',
        {
          ...spec,
          cwd: world.workspace,
          terminal,
        },
      );
      await list.ended;
      expect(list.text.stdout.trim()).toBe('end');
    }
    holder.endInput();
    await holder.ended;
  },
);

test('many commands leave no file open', async () => {
  const before = openFiles();
  const processes = systemProcesses({ sandbox: world.sandbox });
  for (let round = 0; round < 5; round++) {
    const commands = await Promise.all(
      Array.from({ length: 4 }, () => run(processes, 'curl -s http://a.example/', managed())),
    );
    await Promise.all(commands.map(({ ended }) => ended));
    expect(commands.map(({ text }) => text.stdout)).toEqual(
      Array.from({ length: 4 }, () => 'answer'),
    );
  }
  await processes.close();
  // The filters of the sandbox stay open until its server ends.
  await eventually(() => expect(openFiles()).toBeLessThanOrEqual(before + 3));
});

test('100 commands at once each have a proxy of their own', { timeout: 120_000 }, async () => {
  const processes = systemProcesses({ sandbox: world.sandbox });
  const texts = Array.from({ length: 100 }, (_, index) => `answer ${index}`);
  const commands = await Promise.all(
    texts.map((text) => run(processes, 'curl -s http://a.example/', managed({}, text))),
  );
  await Promise.all(commands.map(({ ended }) => ended));
  expect(commands.map(({ text }) => text.stdout)).toEqual(texts);
});

describe('a server that is killed', () => {
  function startServer(...script: string[]): ChildProcess {
    const outfile = join(world.base, 'run-managed.mjs');
    buildSync({
      entryPoints: [join(import.meta.dirname, 'run-managed.ts')],
      outfile,
      ...{
        bundle: true,
        platform: 'node',
        format: 'esm',
        logLevel: 'silent',
        external: ['node-pty'],
      },
    });
    const server = spawn(process.execPath, [outfile, world.workspace, world.home, ...script], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    onTestFinished(() => void server.kill('SIGKILL'));
    return server;
  }

  test('leaves no process in the namespace of a command', async () => {
    const server = startServer(`${NAMESPACE}; sleep 1000`);
    let said = '';
    server.stdout?.on('data', (bytes) => {
      said += String(bytes);
    });
    await eventually(() => expect(said).toMatch(/net:\[\d+\]/));
    const namespace = said.trim();
    expect(processesIn(namespace).length).toBeGreaterThan(1);
    server.kill('SIGKILL');
    await once(server, 'exit');
    await eventually(() => expect(processesIn(namespace)).toEqual([]));
  });

  test('while it prepares a namespace, leaves no process behind', async () => {
    const server = startServer();
    const own = linkOf('/proc/self/ns/net');
    let namespaces: (string | null)[] = [];
    await eventually(() => {
      namespaces = descendants(server.pid ?? 0)
        .map((pid) => linkOf(`/proc/${pid}/ns/net`))
        .filter((link) => link !== null && link !== own);
      expect(namespaces).not.toEqual([]);
    });
    server.kill('SIGKILL');
    await once(server, 'exit');
    await eventually(() =>
      expect(namespaces.flatMap((namespace) => processesIn(namespace ?? ''))).toEqual([]),
    );
  });
});

function descendants(pid: number): number[] {
  const parents = new Map(numbersIn('/proc').map((each) => [each, parentOf(each)]));
  const found = [pid];
  for (const parent of found)
    for (const [each, its] of parents) if (its === parent) found.push(each);
  return found.slice(1);
}

function parentOf(pid: number): number | null {
  try {
    return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);
  } catch {
    // The process has ended.
    return null;
  }
}
