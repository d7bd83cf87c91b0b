import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { ProcessSpec } from '../../src/sandbox/processes/processes.ts';
import { ConfinedWorld } from './confined-world.ts';
import { PATH, run, systemProcesses } from './processes.ts';

let world: ConfinedWorld;

beforeEach(() => {
  world = new ConfinedWorld();
});

afterEach(() => world.close());

/** Answers every connection with this text. */
function answering(text: string) {
  const served: Socket[] = [];
  const serve = (socket: Socket) => {
    served.push(socket);
    socket.on('error', () => {});
    socket.once('data', () =>
      socket.end(
        `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`,
      ),
    );
  };
  return { serve, served };
}

function managed(
  serve: (socket: Socket) => void,
  spec: Partial<ProcessSpec> = {},
): Partial<ProcessSpec> {
  const bounds = world.bounds({ managedNetwork: true });
  return {
    bounds,
    serve,
    cwd: world.workspace,
    env: { PATH, HTTP_PROXY: 'http://user.example:1', NO_PROXY: '*' },
    ...spec,
  };
}

test('a command reaches its proxy, and nothing else', async () => {
  const processes = systemProcesses({ sandbox: world.sandbox });
  const own = createServer((socket) => socket.end('outside')).listen(0, '127.0.0.1');
  onTestFinished(() => void own.close());
  await once(own, 'listening');
  const { serve, served } = answering('by proxy');
  const address = own.address();
  const port = typeof address === 'object' ? address?.port : null;
  const others = {
    npm_config_https_proxy: 'x',
    PIP_PROXY: 'x',
    FTP_PROXY: 'x',
    ftp_proxy: 'x',
    CARGO_HTTP_PROXY: 'x',
    GOPROXY: 'kept',
  };
  const env = { PATH, HTTP_PROXY: 'http://user.example:1', NO_PROXY: '*', ...others };
  const script = `curl -s http://a.example/; echo; env | grep -i -E 'proxy|CODEX_' | sort; curl -s --noproxy '*' http://127.0.0.1:${port}/ || echo "direct $?"`;
  const command = await run(processes, script, managed(serve, { env }));
  await command.ended;
  expect(command.text.stdout.split('\n')).toEqual([
    'by proxy',
    'ALL_PROXY=http://127.0.0.1:3128',
    'CODEX_NETWORK_PROXY_ACTIVE=1',
    'CODEX_SANDBOX=bubblewrap',
    'GOPROXY=kept',
    'HTTPS_PROXY=http://127.0.0.1:3128',
    'HTTP_PROXY=http://127.0.0.1:3128',
    'NODE_USE_ENV_PROXY=1',
    'NO_PROXY=localhost,127.0.0.1,::1',
    'WSS_PROXY=http://127.0.0.1:3128',
    'WS_PROXY=http://127.0.0.1:3128',
    'all_proxy=http://127.0.0.1:3128',
    'http_proxy=http://127.0.0.1:3128',
    'https_proxy=http://127.0.0.1:3128',
    'no_proxy=localhost,127.0.0.1,::1',
    'ws_proxy=http://127.0.0.1:3128',
    'wss_proxy=http://127.0.0.1:3128',
    'direct 7',
    '',
  ]);
  expect(served).toHaveLength(1);
});

test('commands that run at the same time have proxies of their own', async () => {
  const processes = systemProcesses({ sandbox: world.sandbox });
  const script = 'curl -s http://a.example/; read line; curl -s http://a.example/';
  const [one, other] = [answering('one'), answering('other')];
  const first = await run(processes, script, managed(one.serve, { input: true }));
  await first.says('one');
  const second = await run(processes, script, managed(other.serve, { input: true }));
  await second.says('other');
  for (const command of [first, second]) {
    await command.write(Buffer.from('\n'));
    await command.ended;
  }
  expect([first.text.stdout, second.text.stdout]).toEqual(['oneone', 'otherother']);
});

test('a command without a proxy, in the sandbox or outside, does not reach that of another one', async () => {
  const processes = systemProcesses({ sandbox: world.sandbox });
  const { serve, served } = answering('mine');
  const owner = await run(
    processes,
    'curl -s http://a.example/; read line',
    managed(serve, { input: true }),
  );
  await owner.says('mine');
  const attempt = 'curl -s -x http://127.0.0.1:3128 http://a.example/ || echo "none $?"';
  for (const bounds of [world.bounds(), world.bounds({ network: true }), null]) {
    const thief = await run(processes, attempt, { bounds, cwd: world.workspace });
    await thief.ended;
    expect(thief.text.stdout).toBe('none 7\n');
  }
  expect(served).toHaveLength(1);
  owner.endInput();
  await owner.ended;
});

test('a command in a terminal reaches its proxy', async () => {
  const processes = systemProcesses({ sandbox: world.sandbox });
  const command = await run(
    processes,
    'curl -s http://a.example/',
    managed(answering('by proxy').serve, { terminal: { rows: 24, cols: 80 } }),
  );
  await command.ended;
  expect(command.text.stdout).toContain('by proxy');
});

test('a command whose proxy nobody serves has no network', async () => {
  const processes = systemProcesses({ sandbox: world.sandbox });
  const bounds = world.bounds({ managedNetwork: true });
  const command = await run(
    processes,
    'curl -s -x http://127.0.0.1:3128 http://a.example/ || echo "none $?"',
    {
      bounds,
      cwd: world.workspace,
    },
  );
  await command.ended;
  expect(command.text.stdout).toBe('none 7\n');
});

test('a command has no rights over its network', async () => {
  const processes = systemProcesses({ sandbox: world.sandbox });
  const script =
    'grep -E "^Cap(Eff|Prm|Bnd)" /proc/self/status; echo 1 2>/dev/null >/proc/sys/net/ipv4/ip_forward || echo refused';
  const command = await run(processes, script, managed(answering('').serve));
  await command.ended;
  expect(command.text.stdout).toBe(
    'CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nrefused\n',
  );
});
