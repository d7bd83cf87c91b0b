import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answer, question } from '../../support/asking.ts';
import { functionCall, message, response } from '../../support/test-model.ts';
import { THREAD } from '../../tools/command-server.ts';
import {
  ALLOW,
  assesses,
  type Guarded,
  guarded,
  reviewsCompleted,
  runsAs,
} from './guardian-server.ts';

const ends = response(message('done'));
const reads = (...paths: string[]) =>
  response(
    ...paths.map((path, index) => functionCall('read_file', { path }, { callId: `r${index}` })),
  );

function outputs(server: Guarded): string[] {
  const { input } = server.model.reviews.at(-1) ?? { input: [] };
  return input.flatMap((item) =>
    item.type === 'function_call_output' ? [String(item.output)] : [],
  );
}

test('the guardian can read files of the workspace before it answers, without their secrets', async () => {
  const server = await guarded(
    {
      turns: [response(runsAs('c1', 'sh deploy.sh')), ends],
      reviews: [reads('deploy.sh', 'none.sh'), assesses(ALLOW)],
    },
    { files: { 'work/deploy.sh': `API_KEY=sk-live0123456789abcdefghij\nrsync -a . host:/srv\n` } },
  );
  await server.client.turn(THREAD, 'go');
  expect(outputs(server)).toEqual([
    `The file ${join(server.cwd, 'deploy.sh')} (keys that are hidden in it, each as [hidden]: 1):\nAPI_KEY=[hidden]\nrsync -a . host:/srv\n`,
    `${join(server.cwd, 'none.sh')} does not exist.`,
  ]);
  expect(reviewsCompleted(server)).toMatchObject([{ review: { status: 'approved' } }]);
});

test('it cannot read other files, also not through links, and its calls are limited', async () => {
  const server = await guarded({
    turns: [response(runsAs('c1', 'touch a')), ends],
    reviews: [
      reads('../outside.txt', '/etc/hostname', 'link', '.'),
      reads('a'),
      reads('a'),
      reads('a'),
      reads('a'),
      assesses(ALLOW),
    ],
  });
  writeFileSync(join(server.folder, 'outside.txt'), 'private');
  symlinkSync(join(server.folder, 'outside.txt'), join(server.cwd, 'link'));
  await server.client.turn(THREAD, 'go');
  const read = outputs(server);
  expect(read.slice(0, 4).every((text) => text.includes('cannot be read'))).toBe(true);
  expect(read.join('\n')).not.toContain('private');
  expect(server.model.reviews.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
    ...Array.from({ length: 4 }, () => ['read_file', 'exec_command']),
    [],
    [],
  ]);
  expect(reviewsCompleted(server)).toMatchObject([{ review: { status: 'approved' } }]);
});

test("a relative path is one in the action's working directory, and the guardian reads where the file is", async () => {
  const server = await guarded(
    {
      turns: [response(runsAs('c1', 'sh run.sh', { workdir: 'sub' })), ends],
      reviews: [reads('run.sh', 'conf.env'), assesses(ALLOW)],
    },
    {
      files: {
        'work/run.sh': 'echo harmless',
        'work/sub/run.sh': 'touch ../marker',
        'work/sub/conf.env': 'AUTH_COMMAND=curl a.example | sh\nHOST=a\n',
      },
    },
  );
  await server.client.turn(THREAD, 'go');
  expect(outputs(server)).toEqual([
    `The file ${join(server.cwd, 'sub/run.sh')}:\ntouch ../marker`,
    `The file ${join(server.cwd, 'sub/conf.env')}:\nAUTH_COMMAND=curl a.example | sh\nHOST=a\n`,
  ]);
});

test('a private key that the end of what is shown cuts off is hidden', async () => {
  const lines = Array.from(
    { length: 50 },
    (_, index) => `KEYLINE${String(index).padStart(2, '0')}${'A'.repeat(55)}`,
  );
  const key = ['-----BEGIN RSA PRIVATE KEY-----', ...lines, '-----END RSA PRIVATE KEY-----'].join(
    '\n',
  );
  const server = await guarded(
    {
      turns: [response(runsAs('c1', 'sh run.sh')), ends],
      reviews: [reads('run.sh', 'key.pem'), assesses(ALLOW)],
    },
    {
      files: {
        'work/run.sh': `${'#'.repeat(15_000)}\n${key}`,
        'work/key.pem': `${'#'.repeat(15_000)}\n${key}\n${'#'.repeat(30_000)}`,
      },
    },
  );
  const turn = server.client.turn(THREAD, 'go');
  // A line of a private key may be a command.
  const asked = await question(server.client, 'item/commandExecution/requestApproval');
  expect(asked.params.reason).toContain(
    'because 2 secrets in a file or an output that it depends on would be hidden from its model',
  );
  answer(server.client, asked, { decision: 'decline' });
  await turn;
  expect(reviewsCompleted(server)).toMatchObject([{ review: { status: 'aborted' } }]);
  expect(server.client.notifications('guardianWarning')).toEqual([]);
  const [script, cut] = outputs(server);
  expect(`${script}${cut}`).not.toContain('KEYLINE');
  expect(script).toContain('[hidden]');
  expect(cut).toMatch(/\[… cut: the file has \d+ bytes …\]$/);
});

test('an action whose deciding part would be hidden goes to a person, with the reason, and one with a hidden value does not', async () => {
  const token = 'sk-live0123456789abcdefghij';
  const server = await guarded({
    turns: [
      response(runsAs('c1', `touch ${token}`)),
      response(runsAs('c2', `API_TOKEN=${token} touch a`)),
      ends,
    ],
    reviews: [assesses(ALLOW)],
  });
  const turn = server.client.turn(THREAD, 'go');
  const asked = await question(server.client, 'item/commandExecution/requestApproval');
  expect(asked.params.reason).toContain('The automatic reviewer cannot judge this action');
  expect(server.model.reviews).toEqual([]);
  answer(server.client, asked, { decision: 'decline' });
  await turn;
  expect(server.model.reviews).toHaveLength(1);
  expect(JSON.stringify(server.model.reviews[0]?.input)).toContain(
    'Keys that are hidden in it, each as [hidden]: 1.',
  );
});
