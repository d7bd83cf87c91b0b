import { expect, test } from 'vitest';
import { answer, question } from '../support/asking.ts';
import { commandServer, completed, done, FREE_CONFIG, runs, THREAD } from './command-server.ts';

test.each([
  ['ls -la src', 'listFiles'],
  ['cat README.md', 'read'],
  ['grep -rn word src', 'search'],
  ['make all', 'unknown'],
])('the command `%s` is shown with the action `%s`', async (cmd, type) => {
  const server = await commandServer([runs(cmd), done]);
  await server.client.turn(THREAD, 'go');
  expect(completed(server)).toMatchObject([
    { type: 'commandExecution', commandActions: [{ type, command: cmd }] },
  ]);
});

test.each([
  ['true', 'completed', 0],
  ['exit 3', 'failed', 3],
])(
  'the item of the command `%s` begins as `inProgress` and completes as `%s`',
  async (cmd, status, exitCode) => {
    const server = await commandServer([runs(cmd), done]);
    await server.client.turn(THREAD, 'go');
    const started = server.client.notifications('item/started').map(({ item }) => item);
    expect(started.filter(({ type }) => type === 'commandExecution')).toMatchObject([
      { status: 'inProgress', exitCode: null },
    ]);
    expect(completed(server)).toMatchObject([{ status, exitCode }]);
  },
);

test('the item of a command that the user declines completes as `declined`', async () => {
  const server = await commandServer([runs('touch x'), done], {
    config: FREE_CONFIG.replace('"never"', '"untrusted"'),
  });
  const turn = server.client.turn(THREAD, 'go');
  answer(server.client, await question(server.client, 'item/commandExecution/requestApproval'), {
    decision: 'decline',
  });
  await turn;
  expect(completed(server)).toMatchObject([{ status: 'declined', exitCode: null }]);
});
