// @module-tag slow
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ModelEvent } from '../../../src/model/model.ts';
import type { Turn } from '../../../src/protocol/generated/types.ts';
import { startWebServer } from '../../network/proxied.ts';
import { question } from '../../support/asking.ts';
import { Gate } from '../../support/gate.ts';
import { functionCall, message, response } from '../../support/test-model.ts';
import {
  commandServer,
  completed,
  done,
  modelOutput,
  runs,
  says,
  THREAD,
  writes,
} from '../command-server.ts';
import {
  ASK,
  amendment,
  decide,
  MANAGED_CONFIG,
  type Managed,
  managed,
  questions,
} from './managed-server.ts';

const FETCH = 'curl -sS http://a.example/x';

function rulesIn(home: string): string {
  return readFileSync(join(home, 'rules', 'default.rules'), 'utf8');
}

test('the first connection to an unknown host is asked about while the command runs, and passes when it is accepted', async () => {
  const server = await managed([runs(FETCH), done]);
  const { client } = server;
  const turn = client.turn(THREAD, 'go');
  expect(await decide(server, 'accept')).toEqual({
    threadId: THREAD,
    turnId: (await turn).id,
    itemId: 'call_1',
    approvalId: 'network-1',
    environmentId: 'local',
    additionalPermissions: null,
    kind: 'command',
    startedAtMs: expect.any(Number),
    reason: 'The command wants to connect to a.example, port 80. Nothing allows a.example yet.',
    command: expect.stringContaining(FETCH),
    cwd: server.cwd,
    commandActions: [{ type: 'unknown', command: FETCH }],
    networkApprovalContext: { host: 'a.example', protocol: 'http', port: 80 },
    proposedExecpolicyAmendment: null,
    proposedNetworkPolicyAmendments: [
      { host: 'a.example', action: 'allow' },
      { host: 'a.example', action: 'deny' },
    ],
    availableDecisions: [
      'accept',
      'acceptForSession',
      amendment('a.example', 'allow'),
      amendment('a.example', 'deny'),
      'decline',
      'cancel',
    ],
  });
  expect(completed(server)).toMatchObject([
    { id: 'call_1', status: 'completed', exitCode: 0, aggregatedOutput: 'GET /x a.example ' },
  ]);
  expect(server.reached).toEqual(['http://a.example:80']);
  const seen = client.messages.flatMap(({ method, params }) => {
    const { item, status } = (params ?? {}) as {
      item?: { type: string };
      status?: { activeFlags?: string[] };
    };
    if (method === 'thread/status/changed') return [status?.activeFlags?.join() ?? 'idle'];
    return item?.type === 'commandExecution' ||
      method === ASK ||
      method === 'serverRequest/resolved'
      ? [method]
      : [];
  });
  expect(seen).toEqual([
    '',
    'item/started',
    'waitingOnApproval',
    ASK,
    'serverRequest/resolved',
    '',
    'item/completed',
    'idle',
  ]);
});

describe('two commands of a response that ask for one host at the same time', () => {
  const both = response(
    functionCall('exec_command', { cmd: FETCH }, { callId: 'call_1' }),
    functionCall('exec_command', { cmd: `${FETCH}; true` }, { callId: 'call_2' }),
  );

  test('are one question, if the answer is for the session', async () => {
    const server = await managed([both, done]);
    const turn = server.client.turn(THREAD, 'go');
    await decide(server, 'acceptForSession');
    await turn;
    expect(questions(server)).toHaveLength(1);
    expect(completed(server).map(({ aggregatedOutput }) => aggregatedOutput)).toEqual([
      'GET /x a.example ',
      'GET /x a.example ',
    ]);
  });

  test('are asked about one after the other, if the answer is for one command', async () => {
    const server = await managed([both, done]);
    const turn = server.client.turn(THREAD, 'go');
    const first = await decide(server, 'accept');
    const second = await decide(server, 'decline', 2);
    await turn;
    expect(new Set([first.itemId, second.itemId])).toEqual(new Set(['call_1', 'call_2']));
    const outputs = new Map(
      completed(server).map(({ id, aggregatedOutput }) => [id, aggregatedOutput]),
    );
    expect(outputs.get(first.itemId)).toBe('GET /x a.example ');
    expect(outputs.get(second.itemId)).toMatch(/^heddle: The user did not allow/);
  });
});

describe('a connection is asked about with its protocol:', () => {
  test.each([
    ['http', FETCH, 80],
    ['http', 'curl -sS http://a.example:8080/x', 8080],
    ['https', 'curl -sS --proxytunnel http://a.example:443/x', 443],
    ['https', 'curl -sS --proxytunnel http://a.example:22/x', 22],
    ['socks5Tcp', 'curl -sS --proxy socks5h://127.0.0.1:3128 http://a.example:5432/x', 5432],
  ] as const)('%s for %s', async (protocol, cmd, port) => {
    const server = await managed([runs(cmd), done]);
    const turn = server.client.turn(THREAD, 'go');
    const asked = await decide(server, 'accept');
    await turn;
    expect(asked.networkApprovalContext).toEqual({ host: 'a.example', protocol, port });
    // A rule names no port, so an `allow` is proposed only if it would cover this one.
    const covers = protocol === 'socks5Tcp' || port === 80 || port === 443;
    const deny = { host: 'a.example', action: 'deny' };
    expect(asked.proposedNetworkPolicyAmendments).toEqual(
      covers ? [{ host: 'a.example', action: 'allow' }, deny] : [deny],
    );
    expect(completed(server)[0]?.aggregatedOutput).toContain('GET /x');
  });

  test('socks5Udp is not asked about, because UDP is refused', async () => {
    // UDP ASSOCIATE.
    const associate = String.raw`exec 3<>/dev/tcp/127.0.0.1/3128; printf '\5\1\0\5\3\0\1\0\0\0\0\0\0' >&3; head -c 4 <&3 | od -An -tu1`;
    const server = await managed([runs(`bash -c '${associate.replaceAll("'", `'\\''`)}'`), done]);
    await server.client.turn(THREAD, 'go');
    expect(completed(server)[0]?.aggregatedOutput?.trim().split(/\s+/)).toEqual([
      '5',
      '0',
      '5',
      '7',
    ]);
    expect(questions(server)).toEqual([]);
  });
});

describe('the decision', () => {
  test('accept holds for the host, port and protocol until the command ends', async () => {
    const server = await managed([
      runs(`${FETCH}; ${FETCH}; curl -sS http://a.example:81/`),
      runs(FETCH, {}, 'call_2'),
      done,
    ]);
    const turn = server.client.turn(THREAD, 'go');
    for (const count of [1, 2, 3]) await decide(server, 'accept', count);
    await turn;
    expect(
      questions(server).map(({ itemId, approvalId, networkApprovalContext: context }) => [
        itemId,
        approvalId,
        context?.port,
      ]),
    ).toEqual([
      ['call_1', 'network-1', 80],
      ['call_1', 'network-2', 81],
      ['call_2', 'network-1', 80],
    ]);
  });

  test('acceptForSession holds for later commands of the thread', async () => {
    const server = await managed([runs(FETCH), runs(FETCH, {}, 'call_2'), done]);
    const turn = server.client.turn(THREAD, 'go');
    await decide(server, 'acceptForSession');
    await turn;
    expect(questions(server)).toHaveLength(1);
    expect(server.reached).toHaveLength(2);
  });

  test('applyNetworkPolicyAmendment with allow is stored as a rule, and holds after a restart', async () => {
    const server = await managed([runs(FETCH), done, runs(FETCH, {}, 'call_2'), done]);
    const turn = server.client.turn(THREAD, 'go');
    await decide(server, amendment('a.example', 'allow'));
    await turn;
    expect(rulesIn(server.home)).toBe(
      'network_rule(host="a.example", protocol="http", decision="allow")\n',
    );
    const next = await server.restart();
    await next.client.request('thread/resume', { threadId: THREAD });
    await next.client.turn(THREAD, 'again');
    expect(questions(next)).toEqual([]);
    expect(completed(next)).toMatchObject([{ id: 'call_2', exitCode: 0 }]);
  });

  test('applyNetworkPolicyAmendment with deny is stored as a rule, and later commands are refused without a question', async () => {
    const server = await managed([runs(FETCH), runs(FETCH, {}, 'call_2'), done]);
    const turn = server.client.turn(THREAD, 'go');
    await decide(server, amendment('a.example', 'deny'));
    await turn;
    expect(rulesIn(server.home)).toBe(
      'network_rule(host="a.example", protocol="http", decision="deny")\n',
    );
    expect(questions(server)).toHaveLength(1);
    expect(modelOutput(server)).toContain(
      'No connection to http://a.example:80: The user did not allow this command to reach a.example.',
    );
    expect(modelOutput(server, 'call_2')).toContain(
      'No connection to http://a.example:80: A rule denies a.example.',
    );
    expect(server.reached).toEqual([]);
  });

  test('applyNetworkPolicyAmendment for another host than the question was about is not stored, and the client is warned', async () => {
    const server = await managed([runs(FETCH), runs(FETCH, {}, 'call_2'), done]);
    const turn = server.client.turn(THREAD, 'go');
    await decide(server, amendment('*.example', 'allow'));
    await decide(server, amendment('b.example', 'deny'), 2);
    await turn;
    expect(server.client.notifications('warning')).toEqual(
      [1, 2].map(() => ({
        threadId: THREAD,
        message: 'The rule was not stored: the question was about a.example.',
      })),
    );
    expect(() => rulesIn(server.home)).toThrow('ENOENT');
    expect(
      completed(server).map(({ aggregatedOutput }) => aggregatedOutput?.split(' ')[0]),
    ).toEqual(['GET', 'heddle:']);
  });

  test('applyNetworkPolicyAmendment with allow is not proposed and not stored if another rule requires approval', async () => {
    const rules = 'network_rule(host="a.example", protocol="https", decision="prompt")\n';
    const server = await managed([runs(FETCH), runs(FETCH, {}, 'call_2'), done], {
      files: { 'home/rules/own.rules': rules },
    });
    const turn = server.client.turn(THREAD, 'go');
    const asked = await decide(server, amendment('a.example', 'allow'));
    await turn;
    expect(asked.reason).toContain('A rule requires approval for a.example.');
    expect(asked.proposedNetworkPolicyAmendments).toEqual([{ host: 'a.example', action: 'deny' }]);
    expect(server.client.notifications('warning').map(({ message }) => message)).toEqual([
      'The rule was not stored: it would not allow a.example, because another rule requires approval for it, or a rules file cannot be read.',
    ]);
    expect(() => rulesIn(server.home)).toThrow('ENOENT');
    // As with acceptForSession, the second command is not asked about.
    expect(completed(server).map(({ aggregatedOutput }) => aggregatedOutput)).toEqual([
      'GET /x a.example ',
      'GET /x a.example ',
    ]);
  });

  test('acceptWithExecpolicyAmendment counts as accept, and the client is warned', async () => {
    const server = await managed([runs(FETCH), done]);
    const turn = server.client.turn(THREAD, 'go');
    await decide(server, { acceptWithExecpolicyAmendment: { execpolicy_amendment: ['curl'] } });
    await turn;
    expect(server.client.notifications('warning').map(({ message }) => message)).toEqual([
      'The rule was not stored: the question was about the host a.example, not about a command.',
    ]);
    expect(() => rulesIn(server.home)).toThrow('ENOENT');
    expect(completed(server)[0]?.aggregatedOutput).toBe('GET /x a.example ');
  });

  test('decline refuses the connection, the model is told, and neither the command nor the turn ends', async () => {
    const server = await managed([runs(`${FETCH}; ${FETCH}; echo on`), done]);
    const turn = server.client.turn(THREAD, 'go');
    await decide(server, 'decline');
    expect((await turn).status).toBe('completed');
    expect(questions(server)).toHaveLength(1);
    const [item] = completed(server);
    expect(item).toMatchObject({ status: 'completed', exitCode: 0 });
    expect(item?.aggregatedOutput).toBe(
      `${'heddle: The user did not allow this command to reach a.example.\n'.repeat(2)}on\n`,
    );
    expect(modelOutput(server)).toMatch(
      /\nNo connection to http:\/\/a\.example:80: The user did not allow [^\n]*\nOutput:\n/,
    );
  });

  test('cancel interrupts the turn and kills the command', async () => {
    const server = await managed([runs(`${FETCH}; sleep 1000`)]);
    const turn = server.client.turn(THREAD, 'go');
    await decide(server, 'cancel');
    expect((await turn).status).toBe('interrupted');
    expect(completed(server)).toMatchObject([{ id: 'call_1', status: 'failed' }]);
  });
});

test('while a question is open, the time of the call stands still', async () => {
  const server = await managed([runs(`echo up; ${FETCH}; echo over`), done]);
  const turn = server.client.turn(THREAD, 'go');
  await question(server.client, ASK);
  server.clock.advance(60_000);
  await decide(server, 'accept');
  await turn;
  expect(completed(server)).toMatchObject([
    { exitCode: 0, aggregatedOutput: 'up\nGET /x a.example over\n' },
  ]);
  expect(modelOutput(server)).toContain('Process exited with code 0');
});

test('an interrupt withdraws the question before the turn ends', async () => {
  const server = await managed([runs(FETCH)]);
  const { client } = server;
  const { turn } = await client.request('turn/start', { threadId: THREAD, input: [] });
  const asked = await question(client, ASK);
  await client.request('turn/interrupt', { threadId: THREAD, turnId: turn.id });
  expect((await client.turnCompleted(turn.id)).status).toBe('interrupted');
  expect(client.notifications('serverRequest/resolved')).toEqual([
    { threadId: THREAD, requestId: asked.id },
  ]);
  const methods = client.messages.map(({ method }) => method);
  expect(methods.indexOf('serverRequest/resolved')).toBeLessThan(methods.indexOf('turn/completed'));
});

test('a question is withdrawn when the program that wanted to connect has given up, and the call returns', async () => {
  const server = await managed([
    runs('curl -s -m 1 http://a.example/x; echo gave up; sleep 1000', { yield_time_ms: 2000 }),
    done,
  ]);
  const turn = server.client.turn(THREAD, 'go');
  const asked = await question(server.client, ASK);
  // The timer of a connection's handshake is as long as that of a question for which no program
  // waits.
  await says(server, 'gave up');
  await server.clock.timerOf(10_000);
  server.clock.advance(10_000);
  const { requestId } = await server.client.waitFor('serverRequest/resolved');
  expect(requestId).toBe(asked.id);
  await server.clock.timerOf(2_000);
  server.clock.advance(2_000);
  expect((await turn).status).toBe('completed');
  expect(modelOutput(server)).toContain('gave up');
  expect(modelOutput(server)).not.toContain('No connection');
});

test('a question is withdrawn when its command ends', async () => {
  const server = await managed([runs(`${FETCH} & sleep 0.3; kill $!; echo over`), done]);
  const turn = server.client.turn(THREAD, 'go');
  const asked = await question(server.client, ASK);
  expect((await turn).status).toBe('completed');
  expect(server.client.notifications('serverRequest/resolved')).toEqual([
    { threadId: THREAD, requestId: asked.id },
  ]);
});

/**
 * Starts a turn whose first command continues in the background, where it reads from the pipe `p`.
 */
async function background(server: Managed): Promise<{ turn: Promise<Turn> }> {
  execFileSync('mkfifo', [join(server.cwd, 'p')]);
  const turn = server.client.turn(THREAD, 'go');
  await says(server, 'up');
  await server.clock.timerOf(250);
  server.clock.advance(250);
  return { turn };
}

test('nobody is asked for a command whose turn is over', async () => {
  const late = 'echo up; read x < p; curl -sS http://a.example/; curl -sS http://b.example/';
  const server = await managed([
    runs(late, { yield_time_ms: 250 }),
    done,
    writes('', { yield_time_ms: 5000 }),
    done,
  ]);
  const { turn } = await background(server);
  expect((await turn).status).toBe('completed');
  await writeFile(join(server.cwd, 'p'), '\n');
  await server.client.waitFor('item/completed', ({ item }) => item.type === 'commandExecution');
  await server.client.turn(THREAD, 'and?');
  expect(questions(server)).toEqual([]);
  const over =
    'The turn in which this command was started is over, so nobody can be asked about this host any more.';
  expect(modelOutput(server, 'call_2')).toContain(
    `No connection to http://a.example:80: ${over}\nNo connection to http://b.example:80: ${over}\n`,
  );
});

test('a question about a command in the background is withdrawn when the turn ends', async () => {
  const asked = new Gate();
  async function* ends() {
    await asked.pass();
    yield* response(message('done')) as ModelEvent[];
  }
  const server = await managed([
    runs(`echo up; read x < p; ${FETCH}`, { yield_time_ms: 250 }),
    ends,
  ]);
  const { turn } = await background(server);
  await writeFile(join(server.cwd, 'p'), '\n');
  const { id: requestId } = await question(server.client, ASK);
  asked.open();
  expect((await turn).status).toBe('completed');
  expect(server.client.notifications('serverRequest/resolved')).toEqual([
    { threadId: THREAD, requestId },
  ]);
  const { item } = await server.client.waitFor(
    'item/completed',
    (params) => params.item.type === 'commandExecution',
  );
  expect(item).toMatchObject({
    aggregatedOutput: expect.stringContaining('The turn in which this command was started is over'),
  });
});

describe('without a question', () => {
  test('under never, unknown hosts are refused', async () => {
    const server = await managed([runs(FETCH), done], {
      config: MANAGED_CONFIG.replace('"on-request"', '"never"'),
    });
    await server.client.turn(THREAD, 'go');
    expect(modelOutput(server)).toContain(
      'No connection to http://a.example:80: Nothing allows a.example yet. The approval policy is never, so nobody can be asked.',
    );
  });

  test('listed hosts are allowed or denied', async () => {
    const lists =
      '[features.network_proxy.domains]\n"**.a.example" = "allow"\n"bad.a.example" = "deny"\n';
    const server = await managed([runs(`${FETCH}; curl -sS http://bad.a.example/`), done], {
      config: `${MANAGED_CONFIG}${lists}`,
    });
    await server.client.turn(THREAD, 'go');
    expect(completed(server)).toMatchObject([
      { aggregatedOutput: 'GET /x a.example heddle: The configuration denies bad.a.example.\n' },
    ]);
    expect(questions(server)).toEqual([]);
  });

  test('this machine is refused, whatever a person could say', async () => {
    const server = await managed([
      runs('curl -sS --noproxy "" http://127.0.0.1:9/ http://localhost:9/ http://[::1]:9/'),
      done,
    ]);
    await server.client.turn(THREAD, 'go');
    expect(questions(server)).toEqual([]);
    expect(completed(server)[0]?.aggregatedOutput?.match(/is a local address/g)).toHaveLength(3);
    expect(server.reached).toEqual([]);
  });

  test('an address of this machine is reached only if it is allowed exactly', async () => {
    const { port } = await startWebServer();
    const lists = '[features.network_proxy.domains]\n"127.0.0.1" = "allow"\n"*" = "allow"\n';
    const fetches = `curl -sS http://127.0.0.1:${port}/ http://127.0.0.2:${port}/; curl -s http://localhost:${port}/; echo " $NO_PROXY"`;
    const server = await commandServer([runs(fetches), done], {
      config: `${MANAGED_CONFIG}${lists}`,
    });
    await server.client.turn(THREAD, 'go');
    const output = `GET / 127.0.0.1:${port} heddle: 127.0.0.2 is a local address.\n localhost,::1\n`;
    expect(completed(server)[0]?.aggregatedOutput).toBe(output);
  });

  test('a command outside the sandbox uses the network directly', async () => {
    const server = await managed([runs('echo "[$HTTP_PROXY]"'), done], {
      config: MANAGED_CONFIG.replace('"workspace-write"', '"danger-full-access"'),
    });
    await server.client.turn(THREAD, 'go');
    expect(completed(server)[0]?.aggregatedOutput).toBe('[]\n');
  });

  test('a sandbox without network has none', async () => {
    const server = await managed(
      [runs('echo "[$HTTP_PROXY$CODEX_SANDBOX_NETWORK_DISABLED]"'), done],
      {
        config: MANAGED_CONFIG.replace('network_access = true', 'network_access = false'),
      },
    );
    await server.client.turn(THREAD, 'go');
    expect(completed(server)[0]?.aggregatedOutput).toBe('[1]\n');
  });
});
