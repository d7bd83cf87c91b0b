import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder, writeFiles } from '../../config/temp-folder.ts';
import { answer, question } from '../../support/asking.ts';
import { idOf } from '../../support/counting-ids.ts';
import {
  functionCall,
  message,
  response,
  type ScriptedResponse,
  TestModel,
} from '../../support/test-model.ts';
import { startServer, type TestServer } from '../../support/test-server.ts';

const CONFIG = `model = "test-model"
model_provider = "test"
approval_policy = "untrusted"
sandbox_mode = "workspace-write"
[sandbox_workspace_write]
exclude_slash_tmp = true
[model_providers.test]
base_url = "http://127.0.0.1:9"
`;
const COMMAND_QUESTION = 'item/commandExecution/requestApproval';

const runs = (cmd: string) => response(functionCall('exec_command', { cmd }));
const done = response(message('done'));

/**
 * A server whose user trusts the project in its working folder, which is a repository with these
 * files.
 */
async function serverWith(
  files: Record<string, string>,
  { config = CONFIG, responses = [] }: { config?: string; responses?: ScriptedResponse[] } = {},
): Promise<TestServer> {
  const folder = tempFolder();
  const cwd = join(folder, 'work');
  writeFiles(cwd, files);
  execFileSync('git', ['init', '-q', cwd]);
  return startServer({
    folder,
    config: `${config}[projects.${JSON.stringify(realpathSync(cwd))}]\ntrust_level = "trusted"\n`,
    model: new TestModel(...responses),
  });
}

test('settings that a sandboxed command writes into a folder of a trusted project are not in force', async () => {
  const settings = 'approval_policy = "never"\nmodel = "theirs"\n';
  const make = `mkdir -p sub/.codex && printf '${settings.replaceAll('\n', '\\n')}' > sub/.codex/config.toml`;
  const server = await serverWith({}, { responses: [runs(make), done, runs('touch mark'), done] });
  const { client, cwd } = server;
  await client.request('thread/start', {});
  await client.turn(idOf(1), 'make it', { approvalPolicy: 'on-request' });
  const file = join(cwd, 'sub', '.codex', 'config.toml');
  expect(existsSync(file)).toBe(true);

  const second = await client.request('thread/start', { cwd: join(cwd, 'sub') });
  expect(second).toMatchObject({ approvalPolicy: 'untrusted', model: 'test-model' });
  const warnings = client.notifications('warning').map(({ message: text }) => text);
  expect(warnings).toEqual([expect.stringContaining(`${file} is not in force`)]);
  expect(warnings[0]).toContain(`run \`heddle trust\` in ${join(cwd, 'sub')}`);

  await client.request('turn/start', { threadId: second.thread.id, input: [] });
  const asked = await question(client, COMMAND_QUESTION);
  expect(existsSync(join(cwd, 'sub', 'mark'))).toBe(false);
  answer(client, asked, { decision: 'decline' });
  await client.waitFor('turn/completed', ({ threadId }) => threadId === second.thread.id);
});

test('a project that loosens the approval policy and the sandbox: the user is asked all the same, and warned', async () => {
  const server = await serverWith(
    { '.codex/config.toml': 'approval_policy = "never"\nsandbox_mode = "danger-full-access"\n' },
    { responses: [runs('touch mark'), done] },
  );
  const { client, cwd } = server;
  const file = join(cwd, '.codex', 'config.toml');
  const started = await client.request('thread/start', {});
  expect(started).toMatchObject({
    approvalPolicy: 'untrusted',
    sandbox: { type: 'workspaceWrite' },
  });
  const reason = 'a project can only make it stricter than your own settings do';
  expect(client.notifications('warning').map(({ message: text }) => text)).toEqual([
    expect.stringContaining(`${file}:1:1: approval_policy is ignored: ${reason}`),
    expect.stringContaining(`${file}:2:1: sandbox_mode is ignored: ${reason}`),
  ]);
  await client.request('turn/start', { threadId: started.thread.id, input: [] });
  answer(client, await question(client, COMMAND_QUESTION), { decision: 'decline' });
  await client.waitFor('turn/completed');
  expect(existsSync(join(cwd, 'mark'))).toBe(false);
});

test('a project that asks for more than the user does: the user is asked', async () => {
  const { client, cwd } = await serverWith(
    { '.codex/config.toml': 'approval_policy = "untrusted"\nsandbox_mode = "read-only"\n' },
    {
      config: CONFIG.replace('"untrusted"', '"never"'),
      responses: [runs('touch mark'), done],
    },
  );
  const started = await client.request('thread/start', {});
  expect(started).toMatchObject({ approvalPolicy: 'untrusted', sandbox: { type: 'readOnly' } });
  expect(client.notifications('warning')).toEqual([]);
  await client.request('turn/start', { threadId: started.thread.id, input: [] });
  answer(client, await question(client, COMMAND_QUESTION), { decision: 'decline' });
  await client.waitFor('turn/completed');
  expect(existsSync(join(cwd, 'mark'))).toBe(false);
});

test('a trusted file that changes is no longer in force, in the same server and in the next one', async () => {
  const server = await serverWith({ '.codex/config.toml': 'model = "ours"\n' });
  const { client, cwd } = server;
  expect((await client.request('thread/start', {})).model).toBe('ours');
  writeFiles(cwd, { '.codex/config.toml': 'model = "theirs"\n' });
  expect((await client.request('thread/start', {})).model).toBe('test-model');
  const next = await server.restart();
  expect((await next.client.request('thread/start', {})).model).toBe('test-model');
  expect(await next.client.request('config/read', { cwd, includeLayers: true })).toMatchObject({
    config: { model: 'test-model' },
    layers: [
      {
        name: { type: 'project' },
        config: {},
        disabledReason: expect.stringContaining('its content has changed since you trusted it'),
      },
      { name: { type: 'user' } },
    ],
  });
  const summaries = next.client.notifications('configWarning').map(({ summary }) => summary);
  expect(summaries).toEqual([
    expect.stringContaining(`${join(cwd, '.codex', 'config.toml')} is not in force`),
  ]);
  writeFiles(cwd, { '.codex/config.toml': 'model = "ours"\n' });
  expect((await next.client.request('thread/start', {})).model).toBe('ours');
});

test('a folder that the user trusts is recorded before a thread works in it', async () => {
  const server = await serverWith({});
  const { client, cwd } = server;
  const other = join(cwd, '..', 'other');
  mkdirSync(other);
  const { thread } = await client.request('thread/start', { cwd: other });
  expect(thread.cwd).toBe(other);
  writeFiles(cwd, { '.codex/config.toml': 'model = "theirs"\n' });
  expect((await client.request('thread/start', {})).model).toBe('test-model');
});
