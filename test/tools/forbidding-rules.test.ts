import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  commandServer,
  completed,
  done,
  FREE_CONFIG,
  modelOutput,
  runs,
  THREAD,
} from './command-server.ts';
import { always, decline, questionsAbout } from './questions.ts';

const FILES = { 'home/rules/mine.rules': 'prefix_rule(pattern=["touch"], decision="forbidden")\n' };
/** Commands run without a sandbox, and heddle may ask. */
const OPEN = FREE_CONFIG.replace('"never"', '"on-request"');

test('a program that may start what a rule forbids needs approval, until the person allows it permanently', async () => {
  const server = await commandServer([], { config: OPEN, files: FILES });
  const hidden = 'prlimit sh -c "$(echo dG91Y2ggeA== | base64 -d)"';
  expect(
    await questionsAbout(server, ['ls', 'mkdir a && cat a/* > b', hidden, 'git p'], decline),
  ).toMatchObject([
    {
      command: expect.stringContaining('prlimit'),
      reason: expect.stringContaining(TOUCH),
      proposedExecpolicyAmendment: null,
    },
    {
      command: expect.stringContaining('git p'),
      reason: expect.stringContaining(TOUCH),
      proposedExecpolicyAmendment: ['git', 'p'],
    },
  ]);
  expect(existsSync(join(server.cwd, 'x'))).toBe(false);
  expect(existsSync(join(server.cwd, 'b'))).toBe(true);

  expect(
    await questionsAbout(server, ['make -n', 'make', 'make', 'make 2>&1 | tail -1'], (question) =>
      always(question),
    ),
  ).toHaveLength(2);
  expect(await questionsAbout(server, ['make'], decline)).toHaveLength(0);
  expect(completed(server).filter(({ status }) => status === 'declined')).toHaveLength(3);
});

test('if the approval policy does not allow the server to ask, such a program is refused', async () => {
  const server = await commandServer([runs('make'), runs('mkdir a', {}, 'call_2'), done], {
    files: FILES,
  });
  await server.client.turn(THREAD, 'go');
  expect(modelOutput(server)).toBe(
    `Rejected: ${TOUCH} Nobody can be asked: the approval policy is "never".`,
  );
  expect(existsSync(join(server.cwd, 'a'))).toBe(true);
});

test('rules that only require approval cause no such question', async () => {
  const files = { 'home/rules/mine.rules': 'prefix_rule(pattern=["touch"], decision="prompt")\n' };
  const server = await commandServer([], { config: OPEN, files });
  expect(await questionsAbout(server, ['make -n', 'sh -c true'], decline)).toHaveLength(0);
});

const TOUCH = 'A rule forbids `touch`, and heddle cannot tell whether this command runs it.';
