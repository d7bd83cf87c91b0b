// @module-tag slow
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ApprovalSession, confinedConfig, OUTSIDE } from './approval-session.ts';

const FOR_SESSION = { decision: 'acceptForSession' } as const;

/**
 * A session in the sandbox, with a folder `outside` beside the workspace, which sandboxed commands
 * cannot write.
 */
async function started(files: Record<string, string> = {}, config = confinedConfig('on-request')) {
  const session = await ApprovalSession.start({
    config,
    files: { 'outside/victim': 'precious', ...files },
  });
  const path = (...names: string[]) => join(session.server.cwd, ...names);
  const outside = (...names: string[]) => join(session.server.folder, 'outside', ...names);
  return { session, path, outside };
}

describe('a grant for the session ends', () => {
  test('when another folder is at the path of its working directory', async () => {
    const { session, path, outside } = await started({ 'work/build/victim': 'old' });
    const clean = () => session.run('rm -f victim', { ...OUTSIDE, workdir: 'build' }, FOR_SESSION);
    expect((await clean()).asked).toHaveLength(1);
    expect((await clean()).asked).toHaveLength(0);
    await session.run(`mv build old; ln -s ${outside()} build`);
    const again = session.run(
      'rm -f victim',
      { ...OUTSIDE, workdir: 'build' },
      { decision: 'decline' },
    );
    expect((await again).asked).toHaveLength(1);
    expect(existsSync(outside('victim'))).toBe(true);
    rmSync(path('build'));
    mkdirSync(path('build'));
    expect((await clean()).asked).toHaveLength(1);
  });

  test.each<[string, string, Record<string, string>]>([
    ['a script that it runs', './run.sh', {}],
    ['a file that an interpreter reads', 'python3 run.sh', {}],
    ['a file in an option', 'node --import=./run.sh -e 1', {}],
    ['a file in a short option', 'make -frun.sh', {}],
    ['a file that the program reads by itself', 'make all', { Makefile: 'run.sh' }],
    ['a file that the program reads from a folder above', 'npm test', { 'package.json': 'run.sh' }],
    ['a file in a script that is not understood', 'for x in 1; do ./run.sh; done', {}],
    ['a file whose name stands in a comment, too', 'A=1 sh run.sh # >run.sh', {}],
    ['a file that goes to a shell by a pipe', 'cat run.sh | sh', {}],
    [
      'a file that the line also opens for writing',
      'for x in 1; do sh run.sh; done; : >>run.sh',
      {},
    ],
    ['a file in the folder that an option names', 'env -C sub sh ../run.sh', {}],
  ])('when it has changed: %s', async (_what, command, names) => {
    const name = Object.keys(names)[0] ?? 'run.sh';
    const { session } = await started({ [`work/${name}`]: 'exit 0\n', 'work/sub/other': '' });
    const run = () =>
      session.run(
        command,
        { ...OUTSIDE, ...(name === 'package.json' && { workdir: 'sub' }) },
        FOR_SESSION,
      );
    await session.run(`chmod +x ${name}`);
    expect((await run()).asked).toHaveLength(1);
    expect((await run()).asked).toHaveLength(0);
    await session.run(`echo 'exit 1' > ${name}`);
    expect((await run()).asked).toHaveLength(1);
  });

  test('when a file that it writes has become a link to another place', async () => {
    const { session, outside } = await started();
    const copy = () => session.run('cp data out', OUTSIDE, FOR_SESSION);
    await session.run('echo 1 > data');
    expect((await copy()).asked).toHaveLength(1);
    await session.run('echo 2 > data');
    expect((await copy()).asked).toHaveLength(0);
    await session.run(`ln -sf ${outside('victim')} out`);
    expect((await copy()).asked).toHaveLength(1);
  });

  test('when the settings or the hooks of the repository that it works in have changed', async () => {
    const { session, path } = await started();
    mkdirSync(path('.git', 'hooks'), { recursive: true });
    writeFileSync(path('.git', 'config'), '');
    const status = () => session.run('git status', OUTSIDE, FOR_SESSION);
    expect((await status()).asked).toHaveLength(1);
    expect((await status()).asked).toHaveLength(0);
    writeFileSync(path('.git', 'hooks', 'post-index-change'), '');
    expect((await status()).asked).toHaveLength(1);
    expect((await status()).asked).toHaveLength(0);
  });
});

test('a grant for the session stays when a file changes that is only data for the program', async () => {
  const { session } = await started();
  for (const [round, asked] of [1, 0, 0].entries()) {
    expect((await session.run('touch x', OUTSIDE, FOR_SESSION)).asked).toHaveLength(asked);
    expect((await session.run('echo hi > log', OUTSIDE, FOR_SESSION)).asked).toHaveLength(asked);
    await session.run(`echo ${round} > x; echo ${round} > log`);
  }
});

describe('a file with another hard link outside the workspace', () => {
  const change = (from: string, to: string) =>
    `*** Begin Patch\n*** Update File: a\n@@\n-${from}\n+${to}\n*** End Patch\n`;
  const linked = async (approvalPolicy: string) => {
    const world = await started(
      { 'work/a': 'precious\n', 'outside/victim': 'precious\n' },
      confinedConfig(approvalPolicy),
    );
    rmSync(world.path('a'));
    linkSync(world.outside('victim'), world.path('a'));
    return { ...world, content: () => readFileSync(world.outside('victim'), 'utf8') };
  };

  test.each([['untrusted'], ['on-request'], ['on-failure']])(
    'is not patched without a question: %s',
    async (approvalPolicy) => {
      const { session, content } = await linked(approvalPolicy);
      expect(
        (await session.patch(change('precious', 'lost'), { decision: 'decline' })).asked,
      ).toHaveLength(1);
      expect(content()).toBe('precious\n');
      expect((await session.patch(change('precious', 'new'), FOR_SESSION)).asked).toHaveLength(1);
      expect((await session.patch(change('new', 'newer'))).asked).toHaveLength(0);
      expect(content()).toBe('newer\n');
    },
  );

  test('is not patched under never', async () => {
    const { session, content } = await linked('never');
    expect((await session.patch(change('precious', 'lost'))).output).toContain(
      'has other hard links',
    );
    expect(content()).toBe('precious\n');
  });

  test('is not patched by a grant for another file that was at the path', async () => {
    const { session, path, outside } = await started(
      { 'work/a': 'one\n' },
      confinedConfig('untrusted'),
    );
    expect((await session.patch(change('one', 'two'), FOR_SESSION)).asked).toHaveLength(1);
    expect((await session.patch(change('two', 'precious'))).asked).toHaveLength(0);
    writeFileSync(outside('victim'), 'precious\n');
    rmSync(path('a'));
    linkSync(outside('victim'), path('a'));
    expect(
      (await session.patch(change('precious', 'lost'), { decision: 'decline' })).asked,
    ).toHaveLength(1);
    expect(readFileSync(outside('victim'), 'utf8')).toBe('precious\n');
  });
});

describe('a command whose files cannot be compared', () => {
  const MANY = `touch ${Array.from({ length: 2200 }, (_, index) => index).join(' ')}`;
  const HERE_DOCUMENT = `cat <<E > out\n${Array.from({ length: 2500 }, (_, index) => `w${index}`).join(' ')}\nE`;
  const FOLDERS = 'cd a && cd .. && cd b && cd .. && cd c && touch out';

  test.each([
    ['too many files', MANY],
    ['too many words', HERE_DOCUMENT],
    ['a folder that is not known', 'cd -x || touch out'],
    ['too many folders', FOLDERS],
    ['a word that only the shell knows', 'f=out; touch $f.txt'],
    ['a pattern', 'echo d* | sh -n'],
    ['files that a program finds', 'find . -name out -exec touch {} +'],
  ])(
    'is asked about each time, and runs in the folder that was shown: %s',
    async (_what, command) => {
      const { session } = await started({ 'work/a/b/c/x': '', 'work/b/c/x': '', 'work/c/x': '' });
      for (const decision of ['acceptForSession', 'accept'] as const) {
        const { asked, item } = await session.run(command, OUTSIDE, { decision });
        expect(asked).toMatchObject([
          {
            reason: expect.stringContaining(
              'heddle does not know all files that the command depends on',
            ),
          },
        ]);
        expect(asked[0]?.availableDecisions).toEqual(['accept', 'decline', 'cancel']);
        expect(item).toMatchObject({ status: 'completed', exitCode: 0 });
      }
    },
  );

  test.each([['on-request'], ['on-failure'], ['never']])(
    'needs no question without a sandbox: %s',
    async (approvalPolicy) => {
      const config = confinedConfig(approvalPolicy).replace(
        '"workspace-write"',
        '"danger-full-access"',
      );
      const { session } = await started({}, config);
      for (const command of [MANY, HERE_DOCUMENT, 'cd -x || touch out'])
        expect(await session.run(command)).toMatchObject({ asked: [], item: { exitCode: 0 } });
    },
  );

  test('does not run in a folder that has replaced its own', async () => {
    const { session, path, outside } = await started({ 'work/build/victim': 'old' });
    const meanwhile = () => {
      renameSync(path('build'), path('old'));
      symlinkSync(outside(), path('build'));
    };
    await session.run('cd -x || rm -f victim', { ...OUTSIDE, workdir: 'build' }, { meanwhile });
    expect([existsSync(outside('victim')), existsSync(path('old', 'victim'))]).toEqual([
      true,
      false,
    ]);
  });
});

test('a working directory of very many levels is refused before it is followed', async () => {
  const { session, path } = await started();
  const deep = Array.from({ length: 300 }, () => 'd').join('/');
  mkdirSync(path(deep), { recursive: true });
  const { output, asked } = await session.run('pwd', { ...OUTSIDE, workdir: deep });
  expect(asked).toEqual([]);
  expect(output).toContain('`workdir` has more than 256 levels');
});

test('a command that no system can start is refused before it is judged', async () => {
  const { session } = await started();
  const { output, asked } = await session.run(`true ${'x'.repeat(1024 * 1024)}`, OUTSIDE);
  expect(asked).toEqual([]);
  expect(output).toContain('The command has more than 1048576 characters, and cannot be started.');
});

describe('while the question is open', () => {
  test.each([[false], [true]])(
    'a folder that replaces the working directory has no effect: terminal %j',
    async (tty) => {
      const { session, path, outside } = await started({ 'work/build/other': '' });
      const meanwhile = () => {
        renameSync(path('build'), path('old'));
        symlinkSync(outside(), path('build'));
      };
      const ran = await session.run(
        'rm -f victim',
        { ...OUTSIDE, workdir: 'build', tty },
        { meanwhile },
      );
      expect(ran.asked).toHaveLength(1);
      expect(ran.output).toBe(
        `This command was not run: ${path('build')} has changed since the command was checked. ` +
          'An approval is for the files as they were. Look at what changed, and call the command again if it is still right.',
      );
      expect(ran.item).toMatchObject({ status: 'failed', exitCode: null });
      expect(readdirSync(outside())).toEqual(['victim']);
    },
  );

  test('a script that is rewritten is not run', async () => {
    const { session, path } = await started({ 'work/run.sh': 'exit 0\n' });
    const meanwhile = () => writeFileSync(path('run.sh'), 'touch ran\n');
    const ran = await session.run('sh run.sh', OUTSIDE, { meanwhile });
    expect(ran.output).toContain(
      `This command was not run: ${path('run.sh')} has changed since the command was checked.`,
    );
    expect(existsSync(path('ran'))).toBe(false);
  });

  test('other files may change', async () => {
    const { session, path } = await started({ 'work/run.sh': 'touch ran\n' });
    await session.run('sh run.sh', OUTSIDE, { meanwhile: () => writeFileSync(path('other'), '') });
    expect(existsSync(path('ran'))).toBe(true);
  });

  test('a script that is rewritten after the sandbox stopped it is not run again outside', async () => {
    const { session, path, outside } = await started(
      { 'work/run.sh': `touch ${'$1'}/mark\n` },
      confinedConfig('on-failure'),
    );
    const meanwhile = () => writeFileSync(path('run.sh'), 'touch $1/other\n');
    const ran = await session.run(`sh run.sh ${outside()}`, {}, { meanwhile });
    expect(ran.asked).toHaveLength(1);
    expect(ran.output).toContain(`${path('run.sh')} has changed since the command was checked.`);
    expect(readdirSync(outside())).toEqual(['victim']);
  });
});
