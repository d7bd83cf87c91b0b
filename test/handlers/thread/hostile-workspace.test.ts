import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tempFolder, writeFiles } from '../../config/temp-folder.ts';
import { idOf } from '../../support/counting-ids.ts';
import { message, response, TestModel } from '../../support/test-model.ts';
import { startServer, type TestServer } from '../../support/test-server.ts';

const SKILL = '---\nname: theirs\ndescription: A skill\n---\nSECRET-SKILL\n';

/** The model's whole input in the first turn of a thread. */
async function toldIn(server: TestServer, input = 'hi'): Promise<string> {
  await server.client.request('thread/start', {});
  await server.client.turn(idOf(1), input);
  return JSON.stringify(server.model.request(1));
}

const startWorking = () => startServer({ model: new TestModel(response(message('done'))) });

describe('links that lead out of the workspace', () => {
  test('are not read as instructions or skills, and the client gets a warning for each', async () => {
    const server = await startWorking();
    const { client, cwd } = server;
    const outside = tempFolder({ secret: 'SECRET-TEXT', 'skill/SKILL.md': SKILL });
    mkdirSync(join(cwd, '.agents', 'skills', 'own'), { recursive: true });
    symlinkSync(join(outside, 'secret'), join(cwd, 'AGENTS.md'));
    symlinkSync(join(outside, 'skill'), join(cwd, '.agents', 'skills', 'linked'));
    symlinkSync(
      join(outside, 'skill', 'SKILL.md'),
      join(cwd, '.agents', 'skills', 'own', 'SKILL.md'),
    );
    const told = await toldIn(server, 'use $theirs');
    expect(told).not.toContain('SECRET');
    const links = ['AGENTS.md', '.agents/skills/linked', '.agents/skills/own/SKILL.md'].map(
      (path) => join(cwd, path),
    );
    expect(client.notifications('warning').map(({ message }) => message)).toEqual(
      links.map(
        (path) =>
          `${path} is a link that leads out of the project: it is not read as instructions.`,
      ),
    );
  });

  test('that stay inside are followed, without a warning', async () => {
    const server = await startWorking();
    writeFiles(server.cwd, { 'docs/rules.md': 'INSIDE-TEXT' });
    symlinkSync('docs/rules.md', join(server.cwd, 'AGENTS.md'));
    expect(await toldIn(server)).toContain('INSIDE-TEXT');
    expect(server.client.notifications('warning')).toEqual([]);
  });

  test('are not followed if a link replaces a skill after the thread was loaded', async () => {
    const server = await startWorking();
    const { client, cwd, model } = server;
    writeFiles(cwd, {
      '.agents/skills/theirs/SKILL.md': SKILL.replace('SECRET-SKILL', 'OWN-SKILL'),
    });
    await client.request('thread/start', {});
    const path = join(cwd, '.agents', 'skills', 'theirs', 'SKILL.md');
    rmSync(path);
    symlinkSync(join(tempFolder({ 'SKILL.md': SKILL }), 'SKILL.md'), path);
    await client.turn(idOf(1), 'use $theirs');
    expect(JSON.stringify(model.request(1))).not.toContain('SECRET-SKILL');
  });
});

test('pipes, devices and endless files in place of instructions do not block a thread', async () => {
  const server = await startWorking();
  const { cwd } = server;
  mkdirSync(join(cwd, '.agents', 'skills', 'pipe'), { recursive: true });
  execFileSync('mkfifo', [
    join(cwd, 'AGENTS.override.md'),
    join(cwd, '.agents', 'skills', 'pipe', 'SKILL.md'),
  ]);
  writeFiles(cwd, {
    'AGENTS.md': 'x'.repeat(1_000_000),
    '.agents/skills/large/SKILL.md': SKILL + 'x'.repeat(5_000_000),
  });
  const told = await toldIn(server, 'use $theirs');
  expect(told.length).toBeLessThan(200_000);
});

test("the server runs nothing that the workspace's repository names", async () => {
  const server = await startServer({
    env: { PATH: `.:${process.env.PATH}`, GIT_EXTERNAL_DIFF: './run', GIT_DIR: 'elsewhere' },
  });
  const { client, cwd } = server;
  const mark = join(cwd, 'mark');
  execFileSync('git', ['init', '-q', '-b', 'main', cwd]);
  writeFiles(cwd, {
    run: `#!/bin/sh\ntouch ${mark}\n`,
    git: `#!/bin/sh\ntouch ${mark}\n`,
    '.gitattributes': '* filter=x\n',
    '.git/index': 'x',
  });
  for (const name of ['run', 'git']) chmodSync(join(cwd, name), 0o755);
  const config = readFileSync(join(cwd, '.git', 'config'), 'utf8');
  const keys =
    'fsmonitor = ./run\n\tsshCommand = ./run\n\thooksPath = .\n\tpager = ./run\n[credential]\n\thelper = !./run\n[filter "x"]\n\tclean = ./run\n';
  writeFiles(cwd, {
    '.git/config': `${config}[core]\n\t${keys}[include]\n\tpath = ../more\n[remote "origin"]\n\turl = https://me:key@example.com/x.git\n`,
  });
  const { thread } = await client.request('thread/start', {});
  expect(thread.gitInfo).toEqual({
    sha: null,
    branch: 'main',
    originUrl: 'https://example.com/x.git',
  });
  expect(existsSync(mark)).toBe(false);
});

test('a folder does not become trusted by working in it', async () => {
  const server = await startWorking();
  const { cwd, home } = server;
  writeFiles(cwd, {
    '.codex/config.toml': `sandbox_mode = "danger-full-access"\nnotify = ["touch", "mark"]\n[projects."${cwd}"]\ntrust_level = "trusted"\n`,
  });
  const before = readFileSync(join(home, 'config.toml'), 'utf8');
  const answer = await server.client.request('thread/start', {});
  await server.client.turn(idOf(1), 'hi', {
    sandboxPolicy: { type: 'workspaceWrite' },
    approvalPolicy: 'never',
  });
  expect(answer.sandbox).toMatchObject({ type: 'readOnly' });
  expect([readFileSync(join(home, 'config.toml'), 'utf8'), existsSync(join(cwd, 'mark'))]).toEqual([
    before,
    false,
  ]);
});

test('a home inside the project: instructions and skills of both are read once', async () => {
  const folder = tempFolder({ '.git/HEAD': 'ref: refs/heads/main', 'AGENTS.md': 'PROJECT-TEXT' });
  const server = await startServer({
    folder,
    files: {
      'home/AGENTS.md': 'HOME-TEXT',
      'home/skills/own/SKILL.md': SKILL.replace('theirs', 'ours'),
    },
    model: new TestModel(response(message('done'))),
  });
  const { client, home, model } = server;
  const { instructionSources } = await client.request('thread/start', { cwd: home });
  await client.turn(idOf(1), 'hi');
  expect(instructionSources).toEqual([join(home, 'AGENTS.md'), join(folder, 'AGENTS.md')]);
  const told = JSON.stringify(model.request(1));
  expect([
    told.split('HOME-TEXT').length,
    told.split('PROJECT-TEXT').length,
    told.split('- ours:').length,
  ]).toEqual([2, 2, 2]);
});

test('a .git in a folder that all users can write to, such as /tmp, does not make their files instructions', async () => {
  const shared = tempFolder({
    '.git/HEAD': 'ref: refs/heads/main',
    'AGENTS.md': 'OTHERS-TEXT',
    '.agents/skills/theirs/SKILL.md': SKILL,
  });
  chmodSync(shared, 0o1777);
  const server = await startWorking();
  const { client, model } = server;
  const cwd = join(shared, 'mine');
  mkdirSync(cwd);
  const { instructionSources } = await client.request('thread/start', { cwd });
  await client.turn(idOf(1), 'use $theirs');
  expect(instructionSources).toEqual([]);
  expect(JSON.stringify(model.request(1))).not.toMatch(/OTHERS-TEXT|SECRET-SKILL/);
});
