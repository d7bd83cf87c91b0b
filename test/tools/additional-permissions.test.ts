import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { answer, question } from '../support/asking.ts';
import type { TestServer } from '../support/test-server.ts';
import {
  commandServer,
  completed,
  done,
  FREE_CONFIG,
  modelOutput,
  runs,
  THREAD,
} from './command-server.ts';

const METHOD = 'item/commandExecution/requestApproval';
const CONFIG = `${FREE_CONFIG}[features]
exec_permission_approvals = true
`;

/** A configuration in which commands can write only in the thread's working directory. */
function confined(approvalPolicy: string): string {
  const policy = CONFIG.replace('approval_policy = "never"', `approval_policy = ${approvalPolicy}`);
  return policy
    .replace('"danger-full-access"', '"workspace-write"')
    .replace('[features]', '[sandbox_workspace_write]\nexclude_slash_tmp = true\n[features]');
}

const ON_REQUEST = confined('"on-request"');
const OFF = ON_REQUEST.replace('approvals = true', 'approvals = false');
/** Writes outside the thread's working directory. */
const WRITE = 'echo hi > ../beside/x';
const WIDER = {
  sandbox_permissions: 'with_additional_permissions',
  justification: 'May it write beside the project?',
  additional_permissions: { file_system: { write: ['../beside'] } },
};
const FILES = { 'beside/y': 'there' };

function started(server: TestServer): Promise<unknown> {
  return server.client.request('turn/start', { threadId: THREAD, input: [] });
}

function questions({ client }: TestServer): number {
  return client.messages.filter(({ method }) => method === METHOD).length;
}

test('a command asks for additional permissions: the request shows them, and they apply to that run only', async () => {
  const later = 'echo hi > ../beside/z';
  const server = await commandServer([runs(WRITE, WIDER), runs(later, {}, 'b'), done], {
    config: ON_REQUEST,
    files: FILES,
  });
  const beside = join(server.folder, 'beside');
  await started(server);
  const asked = await question(server.client, METHOD);
  expect(asked.params).toMatchObject({
    itemId: 'call_1',
    kind: 'command',
    reason: 'May it write beside the project?',
    additionalPermissions: {
      network: null,
      fileSystem: {
        read: null,
        write: [beside],
        entries: [{ path: { type: 'path', path: beside }, access: 'write' }],
      },
    },
    availableDecisions: ['accept', 'acceptForSession', 'decline', 'cancel'],
  });
  answer(server.client, asked, { decision: 'accept' });
  await server.client.waitFor('turn/completed');
  expect(completed(server).map(({ status }) => status)).toEqual(['completed', 'failed']);
  expect(readFileSync(join(beside, 'x'), 'utf8')).toBe('hi\n');
  expect(existsSync(join(beside, 'z'))).toBe(false);
  expect(questions(server)).toBe(1);
});

test('acceptForSession covers the same command with the same permissions, and not with others', async () => {
  const other = {
    ...WIDER,
    additional_permissions: { ...WIDER.additional_permissions, network: { enabled: true } },
  };
  const server = await commandServer(
    [runs(WRITE, WIDER), runs(WRITE, WIDER, 'b'), runs(WRITE, other, 'c'), done],
    {
      config: ON_REQUEST,
      files: FILES,
    },
  );
  await started(server);
  answer(server.client, await question(server.client, METHOD), { decision: 'acceptForSession' });
  const second = await question(server.client, METHOD, 2);
  expect(second.params.itemId).toBe('c');
  answer(server.client, second, { decision: 'decline' });
  await server.client.waitFor('turn/completed');
  expect(completed(server).map(({ id, status }) => [id, status])).toEqual([
    ['call_1', 'completed'],
    ['b', 'completed'],
    ['c', 'declined'],
  ]);
});

describe('what runs with additional permissions is what was approved', () => {
  const RUN = 'sh run.sh';
  const REWRITE = "echo 'echo other > ../beside/z' > run.sh";
  const RUN_FILES = { ...FILES, 'work/run.sh': 'echo hi > ../beside/x\n' };

  test('acceptForSession ends when the script has changed', async () => {
    const calls = [
      runs(RUN, WIDER),
      runs(RUN, WIDER, 'b'),
      runs(REWRITE, {}, 'c'),
      runs(RUN, WIDER, 'd'),
      done,
    ];
    const server = await commandServer(calls, { config: ON_REQUEST, files: RUN_FILES });
    await started(server);
    answer(server.client, await question(server.client, METHOD), { decision: 'acceptForSession' });
    const second = await question(server.client, METHOD, 2);
    expect(second.params.itemId).toBe('d');
    answer(server.client, second, { decision: 'decline' });
    await server.client.waitFor('turn/completed');
    expect(existsSync(join(server.folder, 'beside', 'z'))).toBe(false);
  });

  test('the script does not run if it changes while the question is open', async () => {
    const server = await commandServer([runs(RUN, WIDER), done], {
      config: ON_REQUEST,
      files: RUN_FILES,
    });
    await started(server);
    const asked = await question(server.client, METHOD);
    writeFileSync(join(server.cwd, 'run.sh'), 'echo other > ../beside/z\n');
    answer(server.client, asked, { decision: 'accept' });
    await server.client.waitFor('turn/completed');
    expect(modelOutput(server)).toContain(
      `This command was not run: ${join(server.cwd, 'run.sh')} has changed`,
    );
    expect(existsSync(join(server.folder, 'beside', 'z'))).toBe(false);
  });

  test('a line whose files cannot be compared is asked about each time', async () => {
    const server = await commandServer([runs('f=run; sh $f.sh', WIDER), done], {
      config: ON_REQUEST,
      files: RUN_FILES,
    });
    await started(server);
    const asked = await question(server.client, METHOD);
    expect(asked.params.availableDecisions).toEqual(['accept', 'decline', 'cancel']);
    answer(server.client, asked, { decision: 'accept' });
    await server.client.waitFor('turn/completed');
    expect(readFileSync(join(server.folder, 'beside', 'x'), 'utf8')).toBe('hi\n');
  });
});

test('permissions that the sandbox already allows need no approval', async () => {
  const within = {
    ...WIDER,
    additional_permissions: { file_system: { read: ['/usr'], write: ['.'] } },
  };
  const server = await commandServer([runs('echo hi > x', within), done], { config: ON_REQUEST });
  await started(server);
  await server.client.waitFor('turn/completed');
  expect(completed(server)).toMatchObject([{ status: 'completed', exitCode: 0 }]);
  expect(questions(server)).toBe(0);
});

test('without a sandbox, additional permissions need no approval', async () => {
  const server = await commandServer([runs(WRITE, WIDER), done], { config: CONFIG, files: FILES });
  await started(server);
  await server.client.waitFor('turn/completed');
  expect(completed(server)).toMatchObject([{ status: 'completed', exitCode: 0 }]);
  expect(questions(server)).toBe(0);
});

describe('a call is refused without an item and without a request', () => {
  const granular =
    '{ granular = { sandbox_approval = false, rules = true, mcp_elicitations = true } }';
  test.each<[string, object, RegExp, string?]>([
    ['under never', WIDER, /approval policy never/, confined('"never"')],
    [
      'under granular without sandbox_approval',
      WIDER,
      /^Rejected: the approval policy does not allow/,
      confined(granular),
    ],
    [
      'where the configuration does not allow it',
      WIDER,
      /features\.exec_permission_approvals/,
      OFF,
    ],
    [
      'without permissions',
      { sandbox_permissions: 'with_additional_permissions' },
      /`additional_permissions` needs/,
    ],
    ['with none in it', { additional_permissions: {} }, /at least one permission/],
    [
      'for what is protected',
      { additional_permissions: { file_system: { write: ['.git/hooks'] } } },
      /\.git is protected/,
    ],
    [
      "for the server's own files",
      { additional_permissions: { file_system: { write: ['../home/rules'] } } },
      /server's home/,
    ],
    ['with another word', { sandbox_permissions: 'none' }, /`sandbox_permissions` must be/],
  ])('%s', async (_case, args, reason, config = ON_REQUEST) => {
    const server = await commandServer([runs(WRITE, args), done], { config, files: FILES });
    await started(server);
    await server.client.waitFor('turn/completed');
    expect(modelOutput(server)).toMatch(reason);
    expect(completed(server)).toEqual([]);
    expect(questions(server)).toBe(0);
  });
});

test('the parameter is offered only if the configuration allows it', async () => {
  const offered = async (config: string) => {
    const server = await commandServer([done], { config });
    await started(server);
    await server.client.waitFor('turn/completed');
    const exec = server.model
      .request(1)
      .tools.find((tool) => tool.type === 'function' && tool.name === 'exec_command');
    return JSON.stringify([exec, server.model.request(1).input]);
  };
  expect((await offered(ON_REQUEST)).match(/with_additional_permissions/g)?.length).toBeGreaterThan(
    2,
  );
  expect(await offered(OFF)).not.toContain('additional_permissions');
});
