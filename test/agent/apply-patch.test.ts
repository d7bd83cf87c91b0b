import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ModelEvent } from '../../src/model/model.ts';
import type {
  AskForApproval,
  FileChangeApprovalDecision,
  SandboxMode,
  ThreadItem,
} from '../../src/protocol/generated/types.ts';
import { idOf } from '../support/counting-ids.ts';
import { begun, START_MS, timed } from '../support/expected.ts';
import { Gate } from '../support/gate.ts';
import { text } from '../support/test-client.ts';
import {
  conversation,
  functionCall,
  message,
  response,
  type ScriptedResponse,
  TestModel,
} from '../support/test-model.ts';
import { startServer, type TestServer } from '../support/test-server.ts';

const ASKED = 'item/fileChange/requestApproval';

function patchOf(...lines: string[]): string {
  return `${['*** Begin Patch', ...lines, '*** End Patch'].join('\n')}\n`;
}

function update(path: string, from: string, to: string): string {
  return patchOf(`*** Update File: ${path}`, '@@', `-${from}`, `+${to}`);
}

function patchCall(input: string, callId = 'c1'): ModelEvent[] {
  return [
    {
      type: 'itemCompleted',
      item: {
        type: 'custom_tool_call',
        id: `ctc_${callId}`,
        call_id: callId,
        name: 'apply_patch',
        input,
      },
    },
  ];
}

interface Setting {
  files?: Record<string, string>;
  approvalPolicy?: AskForApproval;
  sandbox?: SandboxMode;
}

/** A thread whose model gives these responses, one for each request, and then a final message. */
async function threadWith(
  responses: ScriptedResponse[],
  { files = {}, approvalPolicy = 'never', sandbox = 'workspace-write' }: Setting = {},
) {
  const inWork = Object.fromEntries(
    Object.entries(files).map(([name, content]) => [`work/${name}`, content]),
  );
  const server = await startServer({
    model: new TestModel(...responses, response(message('done'))),
    files: inWork,
  });
  await server.client.request('thread/start', { approvalPolicy, sandbox });
  return server;
}

/** The output of a call, as the model read it. */
function outputOf({ model }: TestServer, callId = 'c1'): unknown {
  const found = model.requests
    .flatMap(conversation)
    .find((item) => 'output' in item && item.call_id === callId);
  return found !== undefined && 'output' in found ? found.output : undefined;
}

function contentOf({ cwd }: TestServer, name: string): string | null {
  return existsSync(join(cwd, name)) ? readFileSync(join(cwd, name), 'utf8') : null;
}

function fileChanges(
  { client }: TestServer,
  method: 'item/started' | 'item/completed' = 'item/completed',
) {
  const items = client.notifications(method).map(({ item }): ThreadItem => item);
  return items.filter((item) => item.type === 'fileChange');
}

/**
 * Answers the next approval requests for files, in order. The test may do something before each
 * answer.
 */
function answering(
  { client }: TestServer,
  decisions: (FileChangeApprovalDecision | 'error')[],
  before: () => void = () => {},
): void {
  const [decision, ...rest] = decisions;
  if (decision === undefined) return;
  void client
    .next('a question about files', ({ method, id }) => method === ASKED && id !== undefined)
    .then(({ id }) => {
      before();
      const answer =
        decision === 'error' ? { error: { code: 1, message: 'no' } } : { result: { decision } };
      client.send(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
    });
  answering({ client } as TestServer, rest, before);
}

describe('a patch', () => {
  test('is shown as an item that begins and completes, as an output for the model, and in the diff of the turn', async () => {
    const patch = patchOf(
      '*** Add File: new.txt',
      '+one',
      '*** Delete File: del.txt',
      '*** Update File: a.txt',
      '*** Move to: b.txt',
      '@@',
      '-a',
      '+b',
    );
    const server = await threadWith([response(patchCall(patch))], {
      files: { 'del.txt': 'gone\n', 'a.txt': 'a\n' },
    });
    const turn = await server.client.turn(idOf(1), 'go');
    const ids = { threadId: idOf(1), turnId: turn.id };
    const item = timed({
      type: 'fileChange',
      id: 'c1',
      changes: [
        {
          path: join(server.cwd, 'a.txt'),
          kind: { type: 'update', move_path: join(server.cwd, 'b.txt') },
          diff: '@@ -1 +1 @@\n-a\n+b\n',
        },
        { path: join(server.cwd, 'del.txt'), kind: { type: 'delete' }, diff: 'gone\n' },
        { path: join(server.cwd, 'new.txt'), kind: { type: 'add' }, diff: 'one\n' },
      ],
      status: 'inProgress',
    });
    const output = 'Success. Updated the following files:\nA new.txt\nM b.txt\nD del.txt\n';
    const told = server.client.messages.filter(({ params }) =>
      /fileChange|diff --git/.test(JSON.stringify(params)),
    );
    expect(told.map(({ method, params }) => ({ method, params }))).toEqual([
      { method: 'item/started', params: { ...ids, item: begun(item), startedAtMs: START_MS } },
      {
        method: 'item/completed',
        params: { ...ids, item: { ...item, status: 'completed' }, completedAtMs: START_MS },
      },
      {
        method: 'turn/diff/updated',
        params: {
          ...ids,
          diff: expect.stringMatching(/^diff --git a\/a\.txt b\/b\.txt\nrename from a\.txt\n/),
        },
      },
    ]);
    expect(server.client.notifications('item/fileChange/outputDelta')).toEqual([
      { ...ids, itemId: 'c1', delta: output },
    ]);
    expect(outputOf(server)).toBe(output);
    expect(turn.status).toBe('completed');
    expect(['new.txt', 'b.txt', 'a.txt', 'del.txt'].map((name) => contentOf(server, name))).toEqual(
      ['one\n', 'b\n', null, null],
    );
    const stored = await server.client.request('thread/read', {
      threadId: idOf(1),
      includeTurns: true,
    });
    expect(stored.thread.turns[0]?.items).toContainEqual({ ...item, status: 'completed' });
  });

  test('may come as a function call with `input`, from a model whose API has no freeform tools', async () => {
    const server = await threadWith(
      [response(functionCall('apply_patch', { input: update('a.txt', 'a', 'b') }))],
      {
        files: { 'a.txt': 'a\n' },
      },
    );
    await server.client.turn(idOf(1), 'go');
    expect(contentOf(server, 'a.txt')).toBe('b\n');
    expect(outputOf(server, 'call_1')).toBe('Success. Updated the following files:\nM a.txt\n');
  });

  test.each([
    [
      'no patch',
      'garbage',
      /^apply_patch verification failed: invalid patch: its first line must be '\*\*\* Begin Patch'/,
    ],
    [
      'lines that the file does not have',
      update('a.txt', 'zz', 'b'),
      /^apply_patch verification failed: Failed to find expected lines in .*a\.txt:\nzz$/,
    ],
    [
      'a file that does not exist',
      patchOf('*** Add File: n', '+n', '*** Delete File: none'),
      /^apply_patch verification failed: .*none does not exist$/,
    ],
  ])('with %s fails for the model only: clients see no item', async (_name, patch, output) => {
    const server = await threadWith([response(patchCall(patch))], { files: { 'a.txt': 'a\n' } });
    await server.client.turn(idOf(1), 'go');
    expect(outputOf(server)).toEqual(expect.stringMatching(output));
    expect(fileChanges(server, 'item/started')).toEqual([]);
    expect(server.client.notifications('turn/diff/updated')).toEqual([]);
    expect([contentOf(server, 'a.txt'), contentOf(server, 'n')]).toEqual(['a\n', null]);
  });

  test('that can only be written in part fails: the model reads which files were written, and the diff shows them', async () => {
    const server = await threadWith(
      [response(patchCall(patchOf('*** Add File: n', '+n', '*** Add File: a.txt/x', '+x')))],
      {
        files: { 'a.txt': 'a\n' },
      },
    );
    await server.client.turn(idOf(1), 'go');
    expect(fileChanges(server)).toMatchObject([{ status: 'failed' }]);
    const failure = `Failed to write ${join(server.cwd, 'a.txt/x')}: a file or a link is where a directory should be`;
    expect(outputOf(server)).toEqual(
      `apply_patch failed. ${failure}\nThese files were written before the failure and stay written:\nA n\n`,
    );
    expect(server.client.notifications('turn/diff/updated')).toMatchObject([
      { diff: expect.stringContaining('+++ b/n\n@@ -0,0 +1 @@\n+n\n') },
    ]);
  });

  test('and another one of the same response are applied one after the other', async () => {
    const both = [
      ...patchCall(update('a.txt', '0', '1'), 'c1'),
      ...patchCall(update('a.txt', '1', '2'), 'c2'),
    ];
    const server = await threadWith([response(both)], { files: { 'a.txt': '0\n' } });
    await server.client.turn(idOf(1), 'go');
    expect(contentOf(server, 'a.txt')).toBe('2\n');
    expect(
      server.client
        .notifications('turn/diff/updated')
        .map(({ diff }) => diff.split('\n').slice(-3, -1)),
    ).toEqual([
      ['-0', '+1'],
      ['-0', '+2'],
    ]);
  });

  test('is only in the diff of its own turn', async () => {
    const server = await threadWith(
      [
        response(patchCall(update('a.txt', '0', '1'))),
        response(message('ok')),
        response(patchCall(update('a.txt', '1', '2'), 'c2')),
      ],
      {
        files: { 'a.txt': '0\n' },
      },
    );
    await server.client.turn(idOf(1), 'go');
    await server.client.turn(idOf(1), 'more');
    expect(server.client.notifications('turn/diff/updated').at(-1)?.diff).toMatch(/-1\n\+2\n$/);
  });

  test('keeps the mode of a script', async () => {
    const server = await threadWith([response(patchCall(update('run.sh', 'a', 'b')))], {
      files: { 'run.sh': 'a\n' },
    });
    chmodSync(join(server.cwd, 'run.sh'), 0o755);
    await server.client.turn(idOf(1), 'go');
    expect(statSync(join(server.cwd, 'run.sh')).mode & 0o777).toBe(0o755);
  });
});

describe('a patch that needs approval', () => {
  const untrusted = { files: { 'a.txt': '0\n' }, approvalPolicy: 'untrusted' as const };

  test('begins as an item, waits, and is applied when it is accepted', async () => {
    const server = await threadWith([response(patchCall(update('a.txt', '0', '1')))], untrusted);
    answering(server, ['accept'], () => expect(contentOf(server, 'a.txt')).toBe('0\n'));
    const turn = await server.client.turn(idOf(1), 'go');
    const order = server.client.messages.map(({ method, params }) => {
      if (method === 'thread/status/changed')
        return JSON.stringify((params as { status: unknown }).status);
      return method;
    });
    const from = order.indexOf('{"type":"active","activeFlags":["waitingOnApproval"]}');
    expect(order.slice(from, from + 6)).toEqual([
      '{"type":"active","activeFlags":["waitingOnApproval"]}',
      'item/started',
      ASKED,
      'serverRequest/resolved',
      '{"type":"active","activeFlags":[]}',
      'item/fileChange/outputDelta',
    ]);
    const question = server.client.messages.find(({ method }) => method === ASKED);
    expect(question?.params).toEqual({
      threadId: idOf(1),
      turnId: turn.id,
      itemId: 'c1',
      startedAtMs: START_MS,
      reason: null,
      grantRoot: null,
    });
    expect(fileChanges(server)).toMatchObject([{ id: 'c1', status: 'completed' }]);
    expect(contentOf(server, 'a.txt')).toBe('1\n');
  });

  test.each([
    ['decline', 'The user declined the patch.'],
    [
      'error',
      'The client answered the request for approval with an error, which counts as a refusal: no',
    ],
  ] as const)('is not applied after %s, and the turn goes on', async (decision, why) => {
    const server = await threadWith([response(patchCall(update('a.txt', '0', '1')))], untrusted);
    answering(server, [decision]);
    expect(await server.client.turn(idOf(1), 'go')).toMatchObject({ status: 'completed' });
    expect(fileChanges(server)).toMatchObject([{ id: 'c1', status: 'declined' }]);
    expect(outputOf(server)).toEqual(`${why} Nothing of the patch was written.`);
    expect(contentOf(server, 'a.txt')).toBe('0\n');
  });

  test('and is cancelled ends its turn as interrupted', async () => {
    const server = await threadWith([response(patchCall(update('a.txt', '0', '1')))], untrusted);
    answering(server, ['cancel']);
    expect(await server.client.turn(idOf(1), 'go')).toMatchObject({ status: 'interrupted' });
    expect(fileChanges(server)).toMatchObject([{ status: 'declined' }]);
    expect([contentOf(server, 'a.txt'), server.model.requests.length]).toEqual(['0\n', 1]);
  });

  test('is declined when its turn is interrupted', async () => {
    const server = await threadWith([response(patchCall(update('a.txt', '0', '1')))], untrusted);
    const { turn } = await server.client.request('turn/start', {
      threadId: idOf(1),
      input: text('go'),
    });
    await server.client.first('the question', ({ method }) => method === ASKED);
    await server.client.request('turn/interrupt', { threadId: idOf(1), turnId: turn.id });
    expect(await server.client.turnCompleted(turn.id)).toMatchObject({ status: 'interrupted' });
    expect(fileChanges(server)).toMatchObject([{ status: 'declined' }]);
    expect(contentOf(server, 'a.txt')).toBe('0\n');
  });

  test('and is accepted for the session: its files need no approval again, others do', async () => {
    const one = (from: number, to: number) =>
      response(patchCall(update('a.txt', `${from}`, `${to}`), `c${to}`));
    const server = await threadWith(
      [one(0, 1), one(1, 2), response(patchCall(patchOf('*** Add File: b.txt', '+b'), 'c3'))],
      untrusted,
    );
    answering(server, ['acceptForSession']);
    const { turn } = await server.client.request('turn/start', {
      threadId: idOf(1),
      input: text('go'),
    });
    const second = await server.client.first(
      'a second question',
      ({ method, params }) => method === ASKED && (params as { itemId: string }).itemId === 'c3',
    );
    server.client.send(
      JSON.stringify({ jsonrpc: '2.0', id: second.id, result: { decision: 'decline' } }),
    );
    await server.client.turnCompleted(turn.id);
    expect(fileChanges(server).map(({ id, status }) => [id, status])).toEqual([
      ['c1', 'completed'],
      ['c2', 'completed'],
      ['c3', 'declined'],
    ]);
    expect([contentOf(server, 'a.txt'), contentOf(server, 'b.txt')]).toEqual(['2\n', null]);
  });

  test('does not overwrite a file that was changed meanwhile', async () => {
    const server = await threadWith([response(patchCall(update('a.txt', '0', '1')))], untrusted);
    answering(server, ['accept'], () =>
      writeFileSync(join(server.cwd, 'a.txt'), 'mine, and longer\n'),
    );
    await server.client.turn(idOf(1), 'go');
    expect(fileChanges(server)).toMatchObject([{ status: 'failed' }]);
    expect(contentOf(server, 'a.txt')).toBe('mine, and longer\n');
  });
});

describe('the sandbox', () => {
  const outside = (server: TestServer) => join(server.folder, 'outside');

  /** A thread with a file in a folder beside its workspace; `lay` puts more into the workspace. */
  async function attack(
    patch: string,
    approvalPolicy: AskForApproval,
    lay: (cwd: string, outside: string) => void = () => {},
  ) {
    const server = await threadWith([response(patchCall(patch))], {
      approvalPolicy,
      files: { 'd/x.txt': 'x\n', '../outside/secret.txt': 'x\n' },
    });
    // Otherwise all of /tmp, which has the test's folders, would be writable.
    const policy = {
      type: 'workspaceWrite' as const,
      excludeSlashTmp: true,
      excludeTmpdirEnvVar: true,
    };
    await server.client.request('thread/settings/update', {
      threadId: idOf(1),
      sandboxPolicy: policy,
    });
    lay(server.cwd, outside(server));
    return server;
  }

  const ways: [string, string, (cwd: string, outside: string) => void][] = [
    ['by ..', update('../outside/secret.txt', 'x', 'y'), () => {}],
    [
      'by a linked folder',
      update('link/secret.txt', 'x', 'y'),
      (cwd, away) => symlinkSync(away, join(cwd, 'link')),
    ],
    [
      'by a linked file',
      update('link.txt', 'x', 'y'),
      (cwd, away) => symlinkSync(join(away, 'secret.txt'), join(cwd, 'link.txt')),
    ],
    [
      'by a hard link',
      update('hard.txt', 'x', 'y'),
      (cwd, away) => linkSync(join(away, 'secret.txt'), join(cwd, 'hard.txt')),
    ],
    [
      'as a new file behind a link',
      patchOf('*** Add File: link/new.txt', '+y'),
      (cwd, away) => symlinkSync(away, join(cwd, 'link')),
    ],
    [
      'as a deletion behind a link',
      patchOf('*** Delete File: link/secret.txt'),
      (cwd, away) => symlinkSync(away, join(cwd, 'link')),
    ],
    [
      'by a rename',
      patchOf('*** Update File: d/x.txt', '*** Move to: ../outside/new.txt', '@@', '-x', '+y'),
      () => {},
    ],
    [
      "into a file that git's configuration includes",
      patchOf('*** Add File: tools/git.config', '+y'),
      (cwd) => {
        mkdirSync(join(cwd, '.git'));
        writeFileSync(join(cwd, '.git', 'config'), '[include] path = ../tools/git.config');
      },
    ],
    [
      'into the layout of a repository',
      patchOf('*** Add File: HEAD', '+ref: refs/heads/main'),
      () => {},
    ],
    ['into .hg', patchOf('*** Add File: .hg/hgrc', '+y'), () => {}],
    ['into .git', patchOf('*** Add File: .git/hooks/pre-commit', '+y'), () => {}],
    ['into the .codex of a folder', patchOf('*** Add File: d/.codex/config.toml', '+y'), () => {}],
    [
      'into .git by a link',
      patchOf('*** Add File: g/config', '+y'),
      (cwd) => {
        mkdirSync(join(cwd, '.git'));
        symlinkSync('.git', join(cwd, 'g'));
      },
    ],
  ];

  test.each(ways)(
    'cannot be left %s: with the policy `never` the patch is refused',
    async (_name, patch, lay) => {
      const server = await attack(patch, 'never', lay);
      await server.client.turn(idOf(1), 'go');
      expect(outputOf(server)).toEqual(
        expect.stringMatching(/^The patch was refused, and nothing was written: /),
      );
      expect(fileChanges(server, 'item/started')).toEqual([]);
      expect(readFileSync(join(outside(server), 'secret.txt'), 'utf8')).toBe('x\n');
      expect(existsSync(join(outside(server), 'new.txt'))).toBe(false);
    },
  );

  test.each(ways)(
    'cannot be left %s: with the policy `on-request` the user is asked, with the reason',
    async (_name, patch, lay) => {
      const server = await attack(patch, 'on-request', lay);
      answering(server, ['decline']);
      await server.client.turn(idOf(1), 'go');
      const question = server.client.messages.find(({ method }) => method === ASKED);
      expect(question?.params).toMatchObject({
        reason: expect.stringMatching(
          /outside the folders that can be written in the sandbox|protected by the sandbox/,
        ),
      });
      expect(fileChanges(server)).toMatchObject([{ status: 'declined' }]);
      expect(readFileSync(join(outside(server), 'secret.txt'), 'utf8')).toBe('x\n');
    },
  );

  test('is left if the user accepts the patch', async () => {
    const server = await attack(update('../outside/secret.txt', 'x', 'y'), 'on-request');
    answering(server, ['accept']);
    await server.client.turn(idOf(1), 'go');
    expect(readFileSync(join(outside(server), 'secret.txt'), 'utf8')).toBe('y\n');
  });

  test("does not reach the home's config.toml, even if that is a link to a file in the workspace", async () => {
    const server = await threadWith([
      response(
        patchCall(update('linked.toml', 'model_provider = "test"', 'model_provider = "other"')),
      ),
    ]);
    const linked = join(server.cwd, 'linked.toml');
    renameSync(join(server.home, 'config.toml'), linked);
    symlinkSync(linked, join(server.home, 'config.toml'));
    const before = readFileSync(linked, 'utf8');
    await server.client.turn(idOf(1), 'go');
    expect(outputOf(server)).toEqual(expect.stringMatching(/the sandbox does not allow|refused/));
    expect(readFileSync(linked, 'utf8')).toBe(before);
  });

  test('holds if a command replaced a writable root with a link', async () => {
    const server = await attack(update('build/secret.txt', 'x', 'y'), 'never', (cwd, away) =>
      symlinkSync(away, join(cwd, 'build')),
    );
    const writableRoots = [join(server.cwd, 'build')];
    const policy = {
      type: 'workspaceWrite' as const,
      writableRoots,
      excludeSlashTmp: true,
      excludeTmpdirEnvVar: true,
    };
    await server.client.request('thread/settings/update', {
      threadId: idOf(1),
      sandboxPolicy: policy,
    });
    await server.client.turn(idOf(1), 'go');
    expect(outputOf(server)).toContain('outside the folders that can be written in the sandbox');
    expect(readFileSync(join(outside(server), 'secret.txt'), 'utf8')).toBe('x\n');
  });

  test('holds when a folder becomes a link while the user decides', async () => {
    const server = await attack(
      patchOf('*** Add File: new/f.txt', '+y', '*** Update File: d/x.txt', '@@', '-x', '+y'),
      'untrusted',
    );
    answering(server, ['accept'], () => {
      renameSync(join(server.cwd, 'd'), join(server.cwd, 'was'));
      symlinkSync(outside(server), join(server.cwd, 'd'));
      symlinkSync(outside(server), join(server.cwd, 'new'));
      writeFileSync(join(outside(server), 'x.txt'), 'x\n');
    });
    await server.client.turn(idOf(1), 'go');
    expect(fileChanges(server)).toMatchObject([{ status: 'failed' }]);
    expect(readFileSync(join(outside(server), 'x.txt'), 'utf8')).toBe('x\n');
    expect(existsSync(join(outside(server), 'f.txt'))).toBe(false);
  });

  test("does not let heddle's own files be read or replaced", async () => {
    const server = await threadWith(
      [
        response(patchCall(update('../home/auth.json', 'key', 'x'))),
        response(patchCall(patchOf('*** Add File: ../home/auth.json', '+x'), 'c2')),
      ],
      {
        files: { '../home/auth.json': 'key\n' },
      },
    );
    await server.client.turn(idOf(1), 'go');
    expect(outputOf(server)).toEqual(
      `apply_patch verification failed: the sandbox does not allow ${join(server.home, 'auth.json')} to be read`,
    );
    expect(outputOf(server, 'c2')).toEqual(expect.stringMatching(/^The patch was refused/));
    expect(readFileSync(join(server.home, 'auth.json'), 'utf8')).toBe('key\n');
  });

  test('allows no writing if it is read-only', async () => {
    const server = await threadWith([response(patchCall(update('a.txt', '0', '1')))], {
      files: { 'a.txt': '0\n' },
      sandbox: 'read-only',
    });
    await server.client.turn(idOf(1), 'go');
    expect(contentOf(server, 'a.txt')).toBe('0\n');
    expect(outputOf(server)).toMatch(/^The patch was refused, and nothing was written: /);
  });

  test('is off with full access', async () => {
    const server = await threadWith(
      [response(patchCall(patchOf('*** Add File: ../out.txt', '+x')))],
      { sandbox: 'danger-full-access' },
    );
    await server.client.turn(idOf(1), 'go');
    expect(readFileSync(join(server.folder, 'out.txt'), 'utf8')).toBe('x\n');
  });
});

describe('while the model writes a patch', () => {
  function delta(piece: string, { custom = true } = {}): ModelEvent {
    return { type: 'callDelta', callId: 'c1', name: 'apply_patch', custom, delta: piece };
  }

  test('clients see the patch grow', async () => {
    const gates = [new Gate(), new Gate()];
    const patch = patchOf('*** Add File: n', '+one', '+two');
    const [first, second, third] = [patch.slice(0, 40), patch.slice(40, 45), patch.slice(45)];
    const server = await threadWith([
      response([
        delta(first),
        gates[0] as Gate,
        delta(second),
        gates[1] as Gate,
        delta(third),
        ...patchCall(patch),
      ]),
    ]);
    const { turn } = await server.client.request('turn/start', {
      threadId: idOf(1),
      input: text('go'),
    });
    await gates[0]?.reached;
    gates[0]?.open();
    await gates[1]?.reached;
    server.clock.advance(100);
    gates[1]?.open();
    await server.client.turnCompleted(turn.id);
    const shown = (diff: string) => ({
      threadId: idOf(1),
      turnId: turn.id,
      itemId: 'c1',
      changes: [{ path: 'n', kind: { type: 'add' }, diff }],
    });
    expect(server.client.notifications('item/fileChange/patchUpdated')).toEqual([
      shown('one\n'),
      shown('one\ntwo\n'),
    ]);
    expect(contentOf(server, 'n')).toBe('one\ntwo\n');
  });

  test('previews of a patch of a megabyte add up to a few times its size', {
    tags: 'slow',
  }, async () => {
    const patch = patchOf(
      '*** Add File: n',
      ...Array.from(
        { length: 20_000 },
        (_, index) => `+line ${index} of a long file, so that it is long`,
      ),
    );
    const server = await threadWith([
      () =>
        (async function* () {
          yield* [{ type: 'started' } as const];
          for (const line of patch.split(/(?<=\n)/)) {
            server.clock.advance(100);
            yield delta(line);
          }
          yield* [...patchCall(patch), { type: 'completed', usage: null } as const];
        })(),
    ]);
    await server.client.turn(idOf(1), 'go');
    const told = server.client
      .notifications('item/fileChange/patchUpdated')
      .map(({ changes }) => changes[0]?.diff.length ?? 0);
    expect(told.at(-1)).toBe(contentOf(server, 'n')?.length);
    expect(told.reduce((sum, length) => sum + length, 0)).toBeLessThan(10 * patch.length);
  });

  test('a patch that a retry starts again is forgotten', async () => {
    const patch = patchOf('*** Add File: n', '+one');
    const retrying: ModelEvent = {
      type: 'retrying',
      error: { message: 'again', codexErrorInfo: 'other', additionalDetails: null },
      delayMs: 1,
    };
    const server = await threadWith([
      response([delta('*** Begin Patch\n*** Add'), retrying, ...patchCall(patch)]),
    ]);
    await server.client.turn(idOf(1), 'go');
    expect(server.client.notifications('item/fileChange/patchUpdated')).toEqual([]);
    expect(contentOf(server, 'n')).toBe('one\n');
  });
});
