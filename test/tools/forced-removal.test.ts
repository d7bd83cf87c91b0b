import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ApprovalSession, confinedConfig } from './approval-session.ts';
import { FREE_CONFIG } from './command-server.ts';

const REASON =
  'The command removes files by force (`rm -f`), or may do so, and that needs approval.';
const files = { 'work/dir/x': 'x', 'work/other': 'x' };
const config = (sandbox: string, policy: string) =>
  sandbox === 'free' ? FREE_CONFIG.replace('"never"', `"${policy}"`) : confinedConfig(policy);
const isLeft = ({ server }: ApprovalSession, name = 'dir') => existsSync(join(server.cwd, name));

describe.each(['free', 'confined'])('a forced removal, %s', (sandbox) => {
  test('asks under on-request, and each other one again', { tags: 'slow' }, async () => {
    const session = await ApprovalSession.start({ config: config(sandbox, 'on-request'), files });
    const declined = await session.run('rm -rf dir', {}, { decision: 'decline' });
    expect(declined.asked).toMatchObject([{ reason: REASON }]);
    expect(isLeft(session)).toBe(true);
    expect(
      (await session.run('rm -r dir && sudo rm -f x', {}, { decision: 'decline' })).asked,
    ).toHaveLength(1);
    expect((await session.run('rm -rf dir', {}, { decision: 'accept' })).asked).toHaveLength(1);
    expect(isLeft(session)).toBe(false);
    expect((await session.run('rm -r other')).asked).toEqual([]);
    expect(isLeft(session, 'other')).toBe(false);
  });

  test('is not asked about again if it was accepted for the session', async () => {
    const session = await ApprovalSession.start({ config: config(sandbox, 'on-request'), files });
    expect(
      (await session.run('rm -rf none', {}, { decision: 'acceptForSession' })).asked,
    ).toHaveLength(1);
    expect((await session.run('rm -rf none')).asked).toEqual([]);
  });

  test('is allowed by a rule', async () => {
    const rules = 'prefix_rule(pattern=["rm", "-rf", "dir"])\n';
    const session = await ApprovalSession.start({
      config: config(sandbox, 'on-request'),
      files: { ...files, 'home/rules/a.rules': rules },
    });
    expect((await session.run('rm -rf dir')).asked).toEqual([]);
    expect(isLeft(session)).toBe(false);
    expect((await session.run('rm -rf other', {}, { decision: 'decline' })).asked).toHaveLength(1);
  });
});

test('a forced removal under never runs within the sandbox, and is refused with full access', async () => {
  const confined = await ApprovalSession.start({ config: config('confined', 'never'), files });
  expect((await confined.run('rm -rf dir')).asked).toEqual([]);
  expect(isLeft(confined)).toBe(false);
  const free = await ApprovalSession.start({ config: config('free', 'never'), files });
  const refused = await free.run('rm -rf dir');
  expect(refused.output).toBe(
    `Rejected: ${REASON} Nobody can be asked: the approval policy is "never". Remove only what you have to, and without force: ` +
      '`rm` and `rm -r` need no approval if `--` stands before names that only the shell knows.',
  );
  expect(isLeft(free)).toBe(true);
  await free.run('rm -r -- dir');
  expect(isLeft(free)).toBe(false);
});

/** The number of questions about each command, which are declined. */
async function questionsPerCommand(
  session: ApprovalSession,
  commands: readonly string[],
): Promise<[string, number][]> {
  const numbers: [string, number][] = [];
  for (const command of commands) {
    const { asked: questions } = await session.run(command, {}, { decision: 'decline' });
    numbers.push([command, questions.length]);
  }
  return numbers;
}

const UNLIKELY = ['tmp=$(mktemp); rm "$tmp"', 'rm *', 'ls none | xargs rm'];
const POSSIBLE = ['F=-rf; rm $F none', `python3 -c 'print("rm -rf x")'`];
const PLAIN = ['rm none/*.o', 'rm *.o', 'rm ~/none', 'rm "$HOME/none"', 'rm none{a,b}'];

test('a removal that may be by force asks where it may do harm, and is refused nowhere', {
  tags: 'slow',
}, async () => {
  const all = [...PLAIN, ...UNLIKELY, ...POSSIBLE];
  const number = (commands: readonly string[]) =>
    all.map((command) => [command, commands.includes(command) ? 1 : 0]);
  const start = (sandbox: string, policy: string) =>
    ApprovalSession.start({ config: config(sandbox, policy), files: { 'work/dir/x': '' } });
  expect(await questionsPerCommand(await start('confined', 'on-request'), all)).toEqual(
    number(POSSIBLE),
  );
  expect(await questionsPerCommand(await start('free', 'on-request'), all)).toEqual(
    number([...POSSIBLE, ...UNLIKELY]),
  );
  const never = await start('free', 'never');
  expect(await questionsPerCommand(never, all)).toEqual(number([]));
  expect((await never.run('F=-rf; rm $F dir')).output).not.toContain('Rejected');
  expect(isLeft(never)).toBe(false);
});
