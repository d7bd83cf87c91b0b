import { expect, test } from 'vitest';
import type { ThreadStartParams } from '../../../src/protocol/generated/types.ts';
import { functionCall, response } from '../../support/test-model.ts';
import { dialToWebServer } from '../../tools/network/managed-server.ts';
import { agentOf, outputs } from './agents-model.ts';
import { configWith, done, noRequest, ROOT, spawn, wait, withAgents } from './agents-server.ts';

const DEV = `[permissions.dev]
extends = ":workspace"
[permissions.dev.network]
enabled = true
[permissions.dev.network.domains]
"a.example" = "allow"
"b.example" = "allow"
"d.example" = "deny"
`;
const READER =
  '[permissions.reader]\nextends = ":read-only"\n[permissions.reader.network]\nenabled = true\n';
const SMALLER = `[permissions.smaller]
extends = ":workspace"
[permissions.smaller.network]
enabled = true
mode = "limited"
[permissions.smaller.network.domains]
"b.example" = "allow"
"c.example" = "allow"
`;
const FEATURE = '[features.network_proxy]\nmode = "limited"\n';
const role = (line: string) => configWith(`[agents.r]\n${line}\n`);
const NETWORK: ThreadStartParams = {
  config: { 'sandbox_workspace_write.network_access': true },
  sandbox: 'workspace-write',
};

/** The text about permissions in the first request of an agent. */
async function toldAgent(config: string, thread: ThreadStartParams): Promise<string> {
  const { client, agents } = await withAgents(
    {
      root: [spawn({ message: 'child: x', agent_type: 'r' }), (request) => wait(request), done],
      child: [done],
    },
    { config, thread: { sandbox: null, ...thread } },
  );
  await client.turn(ROOT, 'root: go');
  const [first] = agents.of('child');
  if (first === undefined)
    throw new Error(JSON.stringify(outputs(agents.of('root')[1] ?? ({ input: [] } as never))));
  return JSON.stringify(first.input);
}

test.each<[what: string, config: string, thread: ThreadStartParams, says: string[]]>([
  [
    'a profile that reads only, below a profile with a list of hosts',
    `${role('default_permissions = "reader"')}${DEV}${READER}`,
    { permissions: 'dev' },
    [
      'read-only sandbox',
      'only through the proxy',
      'Allowed hosts: a.example, b.example.',
      'Denied hosts: d.example.',
    ],
  ],
  [
    'a profile with a list of hosts, below a thread without a sandbox',
    `${role('default_permissions = "dev"')}${DEV}`,
    { sandbox: 'danger-full-access' },
    [
      'workspace-write sandbox',
      'only through the proxy',
      'Allowed hosts: a.example, b.example.',
      'Denied hosts: d.example.',
    ],
  ],
  [
    'a profile with a list of hosts, below a sandbox with the whole network',
    `${role('default_permissions = "dev"')}${DEV}`,
    NETWORK,
    ['workspace-write sandbox', 'only through the proxy', 'Allowed hosts: a.example, b.example.'],
  ],
  [
    'a profile with a list of hosts, below a profile with another one',
    `${role('default_permissions = "smaller"')}${DEV}${SMALLER}`,
    { permissions: 'dev' },
    ['GET, HEAD and OPTIONS', 'Allowed hosts: b.example.', 'Denied hosts: d.example.'],
  ],
  [
    'switching the managed network off, below a thread that has it',
    `${role('features.network_proxy = false')}${FEATURE}`,
    NETWORK,
    ['only through the proxy', 'GET, HEAD and OPTIONS'],
  ],
])(
  'an agent is in the managed network of its role and of the thread that started it: %s',
  async (_what, config, thread, says) => {
    const told = await toldAgent(config, thread);
    for (const text of says) expect(told).toContain(text);
  },
);

test('the limits of an agent hold for its commands, also after a restart, until a client chooses others', {
  timeout: 60_000,
}, async () => {
  const { dial, reached } = await dialToWebServer();
  const config = `${role('default_permissions = "dev"')}${DEV}`;
  const cmd = 'curl -sS http://a.example/; curl -sS http://c.example/';
  const fetches = (callId: string) => [
    response(functionCall('exec_command', { cmd }, { callId })),
    done,
  ];
  const first = await withAgents(
    {
      root: [spawn({ message: 'child: x', agent_type: 'r' }), (request) => wait(request), done],
      child: fetches('one'),
    },
    { config, dial },
  );
  const { agents } = first;
  await first.client.turn(ROOT, 'root: go');
  expect(reached).toEqual(['http://a.example:80']);
  const agentId = agentOf(agents.of('root')[1] ?? noRequest(), 'spawn');

  const server = await first.restart({ otherModel: agents, config, dial });
  agents.push('child', ...fetches('two'));
  await server.client.request('thread/resume', { threadId: agentId });
  await server.client.turn(agentId, 'go');
  expect(reached).toEqual(['http://a.example:80', 'http://a.example:80']);

  agents.push('child', done);
  const before = agents.of('child').at(-1)?.input.length;
  await server.client.turn(agentId, 'go', {
    sandboxPolicy: { type: 'workspaceWrite', networkAccess: true },
  });
  const added = JSON.stringify(agents.of('child').at(-1)?.input.slice(before));
  expect(added).toContain('Commands can use the network.');
  expect(added).not.toContain('proxy');
});
