import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { functionCall, message, response, TestModel } from '../support/test-model.ts';
import { startServer } from '../support/test-server.ts';
import { commandServer, FREE_CONFIG, runs, says, THREAD, writes } from './command-server.ts';

const RULES =
  'prefix_rule(pattern=["git"], decision="allow")\nprefix_rule(pattern=["touch"], decision="allow")\n';

/**
 * The files that a reviewer's command leaves behind, in a repository whose settings start a
 * program.
 */
async function reviewerRuns(cmd: string, args: object, config: string) {
  const model = new TestModel(
    response(functionCall('exec_command', { cmd, ...args })),
    response(message('Fine.')),
  );
  const server = await startServer({ model, config, files: { 'home/rules/mine.rules': RULES } });
  const { client, cwd, folder } = server;
  const path = (name: string) => join(cwd, name);
  const canary = join(folder, 'canary');
  execFileSync('git', ['init', '-q', cwd]);
  writeFileSync(path('evil.sh'), `#!/bin/sh\ntouch ${canary}\ntouch ${path('made')}\n`);
  chmodSync(path('evil.sh'), 0o755);
  for (const key of ['core.fsmonitor', 'core.pager', 'diff.external'])
    execFileSync('git', ['-C', cwd, 'config', key, path('evil.sh')]);
  await client.request('thread/start', { cwd });
  const { turn } = await client.request('review/start', {
    threadId: THREAD,
    target: { type: 'uncommittedChanges' },
  });
  expect(existsSync(canary)).toBe(false);
  expect((await client.turnCompleted(turn.id)).status).toBe('completed');
  return {
    left: [canary, path('made'), path('new')].filter((file) => existsSync(file)),
    told: JSON.stringify(model.request(2).input),
  };
}

const OUTSIDE = { sandbox_permissions: 'require_escalated', justification: 'needed' };

test.each([
  ['in the sandbox', 'git status; git diff', {}],
  ['outside the sandbox, which a rule allows', 'git status', OUTSIDE],
  ['outside the sandbox, with a program that a rule allows', 'touch new', OUTSIDE],
  ['without git', 'touch new; echo tried', {}],
])(
  "a reviewer's command %s changes nothing, with full access and with a workspace that may be written",
  async (_how, cmd, args) => {
    for (const mode of ['danger-full-access', 'workspace-write']) {
      const { left, told } = await reviewerRuns(
        cmd,
        args,
        FREE_CONFIG.replace('danger-full-access', mode),
      );
      expect(left).toEqual([]);
      expect(told).toContain('function_call_output');
    }
  },
);

test('a reviewer reads the changes with git', async () => {
  const { told } = await reviewerRuns('git status --short', {}, FREE_CONFIG);
  expect(told).toContain('?? evil.sh');
});

test('a reviewer neither writes to a command of another turn, nor reads its output, nor interrupts it', async () => {
  const wait = { yield_time_ms: 250 };
  let number = 0;
  const toSession = (chars: string, callId: string) =>
    functionCall('write_stdin', { session_id: number, chars, ...wait }, { callId });
  const server = await commandServer([
    runs('stty -echo; echo up; while read name; do touch "$name"; done', {
      tty: true,
      login: false,
      ...wait,
    }),
    ({ input }) => {
      number = Number(/session ID (\d+)/.exec(JSON.stringify(input))?.[1]);
      return response(message('started'));
    },
    () => response(toSession('made\n', 'c1'), toSession('', 'c2'), toSession('\u0003', 'c3')),
    response(message('Fine.')),
  ]);
  const { client, model, clock } = server;
  const first = client.turn(THREAD, 'go');
  await says(server, 'up');
  await clock.timerOf(wait.yield_time_ms);
  clock.advance(wait.yield_time_ms);
  await first;
  const { turn } = await client.request('review/start', {
    threadId: THREAD,
    target: { type: 'uncommittedChanges' },
  });
  expect(await client.turnCompleted(turn.id)).toMatchObject({ status: 'completed' });
  const outputs = model
    .request(4)
    .input.flatMap((item) => (item.type === 'function_call_output' ? [item.output] : []));
  expect(outputs).toEqual(
    Array.from({ length: 3 }, () => `write_stdin: session ${number} does not exist, or has ended.`),
  );
  expect(client.notifications('item/commandExecution/terminalInteraction')).toEqual([]);
});

test('a reviewer polls the command that it has started itself', async () => {
  const wait = { yield_time_ms: 250 };
  const server = await commandServer([
    runs('echo up; read line; echo', { tty: true, login: false, ...wait }),
    writes('\n'),
    response(message('Fine.')),
  ]);
  const { client, model, clock } = server;
  const { turn } = await client.request('review/start', {
    threadId: THREAD,
    target: { type: 'uncommittedChanges' },
  });
  await says(server, 'up');
  await clock.timerOf(wait.yield_time_ms);
  clock.advance(wait.yield_time_ms);
  expect(await client.turnCompleted(turn.id)).toMatchObject({ status: 'completed' });
  expect(JSON.stringify(model.request(3).input.at(-1))).toContain('Process exited with code 0');
});
