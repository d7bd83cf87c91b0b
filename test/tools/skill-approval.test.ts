import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tempFolder } from '../config/temp-folder.ts';
import type { TestServer } from '../support/test-server.ts';
import { commandServer, completed, FREE_CONFIG } from './command-server.ts';
import { type Answers, decline, questionsAbout } from './questions.ts';

const accept: Answers = () => 'accept';
const SKILL = '---\nname: mine\ndescription: Does it\n---\n\nRun scripts/go.sh\n';
const FILES = {
  'home/skills/mine/SKILL.md': SKILL,
  'home/skills/mine/scripts/go.sh': 'echo ran $0\n',
  'work/.git/HEAD': '',
  'work/.agents/skills/local/SKILL.md': SKILL.replace('mine', 'local'),
  'work/.agents/skills/local/go.sh': 'echo local\n',
  'work/own.sh': 'echo own\n',
};

/** A configuration with a granular approval policy, in which this alone is decided otherwise. */
function granular(skillApproval: boolean | null, sandbox = 'workspace-write'): string {
  const kind = skillApproval === null ? '' : `, skill_approval = ${skillApproval}`;
  const policy = `{ granular = { sandbox_approval = ${!skillApproval}, rules = ${!skillApproval}, mcp_elicitations = false${kind} } }`;
  return FREE_CONFIG.replace('"never"', policy).replace('"danger-full-access"', `"${sandbox}"`);
}

async function serverWith(config: string): Promise<TestServer> {
  const folder = tempFolder();
  const server = await commandServer([], {
    config,
    files: FILES,
    folder,
    env: { HOME: join(folder, 'home') },
  });
  symlinkSync(join(server.home, 'skills', 'mine', 'scripts'), join(server.cwd, 'link'));
  return server;
}

/** The commands that run a script of a skill, and those that do not. */
const RUNS = [
  'sh ../home/skills/mine/scripts/go.sh',
  'cd ../home/skills/mine && sh scripts/go.sh',
  'sh link/go.sh',
  'x=$(sh .agents/skills/local/go.sh); echo "$x"',
  'python3 -m pytest .agents/skills/local',
  'sh "$PWD/.agents/skills/local/go.sh"',
  'sh $HOME/skills/mine/scripts/go.sh',
  'sh ~/skills/mine/scripts/go.sh',
];
const OTHERS = [
  'cat ../home/skills/mine/SKILL.md',
  'cat .agents/skills/local/go.sh',
  'sh own.sh',
  'ls ../home/skills/mine/scripts',
  'cat ~/skills/mine/scripts/go.sh',
];

describe('skill_approval', () => {
  test('if it is true, a command that runs a file of a skill needs approval, also in the sandbox; others run', async () => {
    const server = await serverWith(granular(true));
    const questions = await questionsAbout(server, [...RUNS, ...OTHERS], accept);
    const go = join(server.home, 'skills', 'mine', 'scripts', 'go.sh');
    const local = join(server.cwd, '.agents', 'skills', 'local');
    expect(questions.map(({ reason }) => reason)).toEqual(
      [go, go, go, join(local, 'go.sh'), local, join(local, 'go.sh'), go, go].map(
        (file) => `The command may run ${file}, which belongs to a skill.`,
      ),
    );
    const failed = completed(server).filter(({ status }) => status !== 'completed');
    expect(failed.map(({ command }) => command)).toEqual([expect.stringContaining('pytest')]);
    expect(completed(server)).toHaveLength(RUNS.length + OTHERS.length);
  });

  test('counts for a skill that is switched off too: whoever switches it off, its files are those of a skill', async () => {
    const server = await serverWith(
      `${granular(true)}\n[[skills.config]]\nname = "mine"\nenabled = false\n`,
    );
    expect((await questionsAbout(server, ['sh link/go.sh', 'sh own.sh'], accept)).length).toBe(1);
  });

  test.each([false, null])('if it is %s, such a command is like others', async (kind) => {
    const server = await serverWith(granular(kind));
    expect(await questionsAbout(server, [RUNS[0] ?? '', ...OTHERS], accept)).toEqual([]);
    expect(completed(server).map(({ status, exitCode }) => [status, exitCode])).toEqual(
      [0, ...OTHERS].map(() => ['completed', 0]),
    );
  });

  test('counts without a sandbox too; a declined command does not run; acceptForSession and rules spare the question', async () => {
    const server = await serverWith(granular(true, 'danger-full-access'));
    expect((await questionsAbout(server, ['sh link/go.sh'], decline)).length).toBe(1);
    expect(completed(server)).toMatchObject([{ status: 'declined', exitCode: null }]);
    expect(
      (await questionsAbout(server, ['sh link/go.sh', 'sh link/go.sh'], () => 'acceptForSession'))
        .length,
    ).toBe(1);
    expect(completed(server).map(({ status }) => status)).toEqual([
      'declined',
      'completed',
      'completed',
    ]);
  });

  test.each(['"on-request"', '"never"', '"on-failure"'])(
    'under %s, such commands are like others',
    async (policy) => {
      const server = await serverWith(granular(true).replace(/\{ granular.*\n/, `${policy}\n`));
      expect(await questionsAbout(server, [RUNS[0] ?? ''], accept)).toEqual([]);
      expect(completed(server)).toMatchObject([{ status: 'completed', exitCode: 0 }]);
    },
  );
});
