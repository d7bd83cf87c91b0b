import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import type { HiddenPattern } from '../../src/config/inherited-limits.ts';
import { NO_REQUIREMENTS } from '../../src/config/requirements/requirements.ts';
import { patternsFrom } from '../../src/policy/permissions/hidden-files.ts';
import {
  requiredHidden,
  withRequiredHidden,
} from '../../src/policy/permissions/required/required-hidden.ts';
import { tempFolder } from '../config/temp-folder.ts';
import {
  functionCall,
  message,
  response,
  type ScriptedResponse,
  TestModel,
} from '../support/test-model.ts';
import { startServer, type TestServer, type TestServerOptions } from '../support/test-server.ts';
import { modelOutputs, THREAD } from '../tools/command-server.ts';

const BASE = 'model = "test-model"\nmodel_provider = "test"\n';
const PROVIDER = '[model_providers.test]\nbase_url = "http://127.0.0.1:9"\n';
const CONFIG = `${BASE}approval_policy = "never"\nsandbox_mode = "workspace-write"\n${PROVIDER}`;
const FILES = {
  'work/a.env': 'KEY=a',
  'work/sub/b.env': 'KEY=b',
  'work/keys/k': 'KEY=k',
  'work/plain.txt': 'plain',
  'user/.netrc': 'KEY=n',
};
const READ = 'cat plain.txt a.env sub/b.env keys/k "$HIDDEN" ../user/.netrc 2>/dev/null; true';
const done = response(message('done'));
const runs = (cmd: string, more: object = {}, callId = 'call_1') =>
  functionCall('exec_command', { cmd, login: false, ...more }, { callId });

const requirements = (...denied: string[]) => ({
  'requirements.toml': `[permissions.filesystem]\ndeny_read = ${JSON.stringify(denied)}\n`,
});

async function serverWith(
  responses: ScriptedResponse[],
  options: TestServerOptions = {},
): Promise<TestServer> {
  const server = await startServer({
    config: CONFIG,
    files: FILES,
    system: requirements(':workspace_roots/**/*.env', ':workspace_roots/keys'),
    model: new TestModel(...responses),
    ...options,
  });
  await server.client.request('thread/start', {});
  return server;
}

const visibleKeys = (output = '') => output.match(/plain|KEY=\w/g);

test('files that the administrator hides are hidden from commands, images and patches in each sandbox, and the model is told', async () => {
  const server = await serverWith([
    response(runs(READ, {}, 'c1')),
    response(functionCall('view_image', { path: 'p.env' }, { callId: 'c2' })),
    response(
      functionCall(
        'apply_patch',
        { input: '*** Begin Patch\n*** Update File: a.env\n@@\n-KEY=a\n+KEY=x\n*** End Patch' },
        { callId: 'c3' },
      ),
    ),
    done,
  ]);
  mkdirSync(join(server.cwd, 'pics'));
  writeFileSync(join(server.cwd, 'pics/target.png'), 'x');
  symlinkSync('pics/target.png', join(server.cwd, 'p.env'));
  await server.client.turn(THREAD, 'go');
  const [read, image, update] = modelOutputs(server);
  expect(visibleKeys(read)).toEqual(['plain', 'KEY=n']);
  expect(image).toMatch(/may not be read/);
  expect(update).toMatch(/the sandbox does not allow .*a\.env to be read/);
  expect(JSON.stringify(server.model.request(1).input)).toContain(
    'are hidden from commands in the sandbox and from your tools',
  );
  const exec = await server.client.request('command/exec', { command: ['sh', '-c', READ] });
  expect(visibleKeys(exec.stdout)).toEqual(['plain', 'KEY=n']);
  const read2 = { type: 'readOnly' as const };
  server.model.push(response(runs(READ, {}, 'c5')), done);
  await server.client.turn(THREAD, 'go', { sandboxPolicy: read2 });
  expect(visibleKeys(modelOutputs(server).at(-1))).toEqual(['plain', 'KEY=n']);
  const asked = await server.client.request('command/exec', {
    command: ['sh', '-c', READ],
    sandboxPolicy: read2,
  });
  expect(visibleKeys(asked.stdout)).toEqual(['plain', 'KEY=n']);
});

test('a permission profile cannot give access to them, and hides what it hides beside them', async () => {
  const config = `${BASE}approval_policy = "never"\ndefault_permissions = "p"\n${PROVIDER}
[permissions.p.filesystem]
":root" = "read"
[permissions.p.filesystem.":workspace_roots"]
"." = "write"
"plain.txt" = "deny"
`;
  const server = await serverWith([response(runs(READ)), done], { config });
  await server.client.turn(THREAD, 'go');
  expect(visibleKeys(modelOutputs(server)[0])).toEqual(['KEY=n']);
});

test('paths in the home folder, exact ones whose names look like patterns, and several patterns', async () => {
  const folder = tempFolder(FILES);
  const work = join(folder, 'work');
  const server = await serverWith([response(runs(READ)), done], {
    folder,
    files: {},
    env: { HOME: join(folder, 'user') },
    system: requirements('~/.netrc', `${work}/{a,zz}.env`, `${work}/keys/`),
  });
  await server.client.turn(THREAD, 'go');
  expect(visibleKeys(modelOutputs(server)[0])).toEqual(['plain', 'KEY=b']);
});

test('no command leaves the sandbox: not by approval, by a rule, or after a failure', async () => {
  const escalated = { sandbox_permissions: 'require_escalated', justification: 'Please?' };
  const config = `${BASE}approval_policy = "on-request"\nsandbox_mode = "workspace-write"\n${PROVIDER}`;
  const rules = { 'home/rules/default.rules': 'prefix_rule(pattern=["cat"], decision="allow")\n' };
  const server = await serverWith(
    [response(runs('cat a.env', escalated, 'c1')), response(runs('ls', escalated, 'c2')), done],
    {
      config,
      files: { ...FILES, ...rules },
    },
  );
  await server.client.turn(THREAD, 'go');
  const refusal =
    'the administrator of this machine hides files from all commands, so no command runs outside the sandbox';
  for (const output of modelOutputs(server)) expect(output).toContain(refusal);
  expect(JSON.stringify(server.model.request(1).input)).toContain(
    'No command can run outside the sandbox',
  );
  server.model.push(response(runs('cat a.env; touch /outside', {}, 'c3')), done);
  await server.client.turn(THREAD, 'go', { approvalPolicy: 'on-failure' });
  expect(modelOutputs(server).at(-1)).not.toContain('KEY=a');
  expect(
    server.client.messages.filter(
      (each) => 'method' in each && /requestApproval/.test(String(each.method)),
    ),
  ).toEqual([]);
});

test('they are hidden in forks and after a restart, and are those that the administrator has then', async () => {
  const server = await serverWith([done]);
  await server.client.turn(THREAD, 'hi');
  const { thread } = await server.client.request('thread/fork', { threadId: THREAD });
  server.model.push(response(runs(READ)), done);
  await server.client.turn(thread.id, 'go');
  expect(visibleKeys(modelOutputs(server)[0])).toEqual(['plain', 'KEY=n']);
  const free = await server.restart();
  await free.client.request('thread/resume', { threadId: thread.id });
  free.model.push(response(runs(READ)), done);
  await free.client.turn(thread.id, 'go');
  expect(visibleKeys(modelOutputs(free).at(-1))).toEqual([
    'plain',
    'KEY=a',
    'KEY=b',
    'KEY=k',
    'KEY=n',
  ]);
  const again = await free.restart({ system: requirements(':workspace_roots/keys') });
  await again.client.request('thread/resume', { threadId: thread.id });
  again.model.push(response(runs(READ)), done);
  await again.client.turn(thread.id, 'go');
  expect(visibleKeys(modelOutputs(again).at(-1))).toEqual(['plain', 'KEY=a', 'KEY=b', 'KEY=n']);
});

test('a model learns nothing from hidden skills, and from an AGENTS.md once a new folder of the workspace hides it', async () => {
  const skill = '---\nname: secret\ndescription: KEY=s\n---\nx\n';
  const files = {
    ...FILES,
    'work/.git/HEAD': '',
    'work/.agents/skills/secret/SKILL.md': skill,
    'work/AGENTS.md': 'KEY=g',
  };
  const system = requirements(
    ':workspace_roots/.agents/skills/secret',
    ':workspace_roots/AGENTS.md',
  );
  const server = await serverWith([done, done], { files, system });
  const told = () =>
    visibleKeys(JSON.stringify(server.model.request(server.model.requests.length).input));
  await server.client.turn(THREAD, 'hi');
  expect(told()).toEqual(null);
  const cwd = join(server.cwd, 'sub');
  const { thread } = await server.client.request('thread/start', { cwd });
  await server.client.turn(thread.id, 'hi');
  expect(told()).toContain('KEY=g');
  server.model.push(done);
  await server.client.turn(thread.id, 'hi', { runtimeWorkspaceRoots: [server.cwd] });
  const { input } = server.model.request(server.model.requests.length);
  expect(
    JSON.stringify(input.filter((item) => JSON.stringify(item).includes('AGENTS.md')).at(-1)),
  ).not.toContain('KEY=g');
});

test('an agent in another folder keeps what is hidden from the thread that it works for, when it is loaded again', () => {
  const config = {
    requirements: { ...NO_REQUIREMENTS, deniedReads: [':workspace_roots/*.env'] },
    env: {},
  } as unknown as Config;
  const [required] = requiredHidden(config);
  const hidden = patternsFrom([required as HiddenPattern], '/above');
  expect(withRequiredHidden({ hidden }, config)).toEqual({
    hidden: [required, { path: '/above/*.env', depthMax: null }],
  });
});
