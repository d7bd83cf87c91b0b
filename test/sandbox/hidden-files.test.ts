// @module-tag slow
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { HiddenPattern } from '../../src/config/inherited-limits.ts';
import { hiddenFiles } from '../../src/policy/permissions/hidden-files.ts';
import type { SandboxBounds } from '../../src/policy/permissions/sandbox-bounds.ts';
import { findHidden } from '../../src/sandbox/places/find-hidden.ts';
import { ConfinedWorld } from './confined-world.ts';

let world: ConfinedWorld;

beforeEach(() => {
  world = new ConfinedWorld();
});

afterEach(() => world.close());

const below = (...patterns: string[]) =>
  patterns.map((path) => ({ path: `:workspace_roots/${path}`, depthMax: null }));

function hiding(
  patterns: readonly HiddenPattern[],
  more: Partial<SandboxBounds> = {},
): Partial<SandboxBounds> {
  return { ...more, hidden: hiddenFiles(patterns, [world.workspace]) };
}

/** The files of the workspace, by their paths in it, that a command can read. */
async function readBy(bounds: Partial<SandboxBounds>, names: readonly string[]): Promise<string[]> {
  const script = 'for f; do cat "$f" >/dev/null 2>&1 && printf "%s\\n" "$f"; done; true';
  const { exitCode, stdout, stderr } = await world.run(
    ['bash', '-c', script, 'bash', ...names],
    bounds,
  );
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout.split('\n').filter((name) => name !== '');
}

test('commands cannot read, write, move or remove what matches, and see everything else', async () => {
  for (const name of [
    'a.env',
    'sub/deep/b.env',
    'plain.txt',
    'A.ENV',
    'sub/keys/k.txt',
    'sub/keys/in/k.txt',
  ])
    world.file(`work/${name}`, name);
  const bounds = hiding(below('**/*.env', '*/keys'));
  expect(
    await readBy(bounds, [
      'a.env',
      'sub/deep/b.env',
      'plain.txt',
      'A.ENV',
      'sub/keys/k.txt',
      'sub/keys/in/k.txt',
    ]),
  ).toEqual(['plain.txt', 'A.ENV']);
  for (const script of [
    'echo x > a.env',
    'rm a.env',
    'mv a.env b',
    'mv sub other',
    'rm -rf sub',
    'echo x > sub/keys/new',
    'ln a.env c && cat c',
  ])
    expect((await world.bash(script, bounds)).exitCode, script).not.toBe(0);
  expect((await world.bash('cat a.env sub/deep/b.env sub/keys/k.txt')).stdout).toBe(
    'a.envsub/deep/b.envsub/keys/k.txt',
  );
});

test('what a command creates is its own, until the next one', async () => {
  const bounds = hiding(below('**/*.env'));
  expect(
    (await world.bash('mkdir d; echo mine > d/new.env; cat d/new.env; mv d/new.env d/x', bounds))
      .stdout,
  ).toBe('mine\n');
  expect((await world.bash('echo mine > new.env; cat d/x', bounds)).stdout).toBe('mine\n');
  expect((await world.bash('cat new.env', bounds)).exitCode).toBe(1);
});

test('the target of a link that matches is hidden, wherever it is; another link to it does not help, and another hard link does', async () => {
  world.file('work/plain.txt', 'inside');
  world.file('outside/far.txt', 'outside');
  world.file('outside/folder/in.txt', 'outside');
  symlinkSync('plain.txt', join(world.workspace, 'one.env'));
  symlinkSync('one.env', join(world.workspace, 'chain'));
  symlinkSync(join(world.outside, 'far.txt'), join(world.workspace, 'two.env'));
  symlinkSync(join(world.outside, 'folder'), join(world.workspace, 'three.env'));
  symlinkSync('nothing', join(world.workspace, 'four.env'));
  const real = world.file('work/five.env', 'five');
  linkSync(real, join(world.workspace, 'hard'));
  const names = [
    'plain.txt',
    'one.env',
    'chain',
    'two.env',
    'three.env/in.txt',
    '../outside/far.txt',
    '../outside/folder/in.txt',
    'hard',
    'five.env',
  ];
  expect(await readBy(hiding(below('*.env')), names)).toEqual(['hard']);
});

test('a link through which alone something is hidden stays for the next command, with the links and folders on the way', async () => {
  for (const at of ['far.txt', 'near.txt', 'roots/k.txt']) world.file(`outside/${at}`, 'secret');
  world.file('work/sub/own.env', 'secret');
  world.file('work/links/free.txt', 'free');
  for (const at of ['chain/x', 'in/x']) world.file(`work/${at}`, 'x');
  symlinkSync(join(world.outside, 'far.txt'), join(world.workspace, 'links/one.env'));
  symlinkSync(join(world.outside, 'near.txt'), join(world.workspace, 'chain/middle'));
  symlinkSync('../chain/middle', join(world.workspace, 'links/two.env'));
  symlinkSync(join(world.outside, 'roots'), join(world.workspace, 'in/folder'));
  symlinkSync('sub/own.env', join(world.workspace, 'to-own.env'));
  const bounds = hiding(below('links/*.env', 'in/folder/*.txt', '**/own.env', '*.env'));
  const tries = [
    ...[
      'rm links/one.env',
      'mv links/one.env x',
      'ln -sfn sub links/one.env',
      'mv links elsewhere',
    ],
    ...['ln -sfn x chain/middle', 'mv chain other', 'rm in/folder', 'mv in/folder x', 'mv in x'],
  ];
  for (const script of tries)
    expect((await world.bash(script, bounds)).exitCode, script).not.toBe(0);
  const names = ['far.txt', 'near.txt', 'roots/k.txt'].map((at) => `../outside/${at}`);
  expect(await readBy(bounds, [...names, 'links/free.txt', 'sub/own.env'])).toEqual([
    'links/free.txt',
  ]);
});

test('a command that fails in the folder of such a link reads why', async () => {
  world.file('outside/far.txt', 'secret');
  symlinkSync(join(world.outside, 'far.txt'), join(world.workspace, 'one.env'));
  const { stderr } = await world.bash('touch new.txt', hiding(below('*.env')));
  expect(stderr).toMatch(
    /heddle: commands in the sandbox cannot create, .*work\/one\.env, because these symbolic links lead to hidden files/,
  );
});

test('a link to a folder is followed if the pattern has its name, and not by a wildcard; it stays then', async () => {
  const names = [
    'shared/s.env',
    'other/o.env',
    'pkg/c/conf/c.env',
    'pkg/c/plain.env',
    'pkg/c/conf/in/deep.env',
    'shared/in/deep.env',
  ];
  for (const name of names) world.file(`work/${name}`, name);
  world.file('outside/conf/out.env', 'out');
  for (const folder of ['a', 'b', 'd', 'e']) mkdirSync(join(world.workspace, 'pkg', folder));
  symlinkSync('../../shared', join(world.workspace, 'pkg/a/conf'));
  symlinkSync(join(world.outside, 'conf'), join(world.workspace, 'pkg/b/conf'));
  symlinkSync('.', join(world.workspace, 'pkg/d/conf'));
  symlinkSync('nowhere', join(world.workspace, 'pkg/e/conf'));
  symlinkSync('../../other', join(world.workspace, 'pkg/e/others'));
  const all = [
    ...names,
    '../outside/conf/out.env',
    'pkg/a/conf/s.env',
    'pkg/b/conf/out.env',
    'pkg/e/others/o.env',
  ];
  const unseen = [
    'shared/s.env',
    '../outside/conf/out.env',
    'pkg/a/conf/s.env',
    'pkg/b/conf/out.env',
    'pkg/c/conf/c.env',
  ];
  const seenBy = (...patterns: string[]) => readBy(hiding(below(...patterns)), all);
  const seen = all.filter((name) => !unseen.includes(name));
  expect(await seenBy('pkg/*/conf/*.env')).toEqual(seen);
  expect(await seenBy('**/conf/*.env')).toEqual(seen);
  const isDeep = (name: string) => name.endsWith('deep.env');
  expect(await seenBy('**/conf/**/*.env')).toEqual(seen.filter((name) => !isDeep(name)));
  expect(await seenBy('pkg/*/*/*.env')).toEqual(all.filter((name) => name !== 'pkg/c/conf/c.env'));
  for (const script of ['rm pkg/a/conf', 'mv pkg/b x', 'ln -sfn ../../other pkg/a/conf'])
    expect((await world.bash(script, hiding(below('pkg/*/conf/*.env')))).exitCode, script).not.toBe(
      0,
    );
});

test('a link to what is hidden by its own path can be removed', async () => {
  world.file('work/sub/own.env', 'secret');
  symlinkSync('sub/own.env', join(world.workspace, 'to-own.env'));
  const bounds = hiding(below('**/*.env'));
  expect((await world.bash('rm to-own.env; echo new > new.txt', bounds)).exitCode).toBe(0);
  expect(await readBy(bounds, ['sub/own.env', 'new.txt'])).toEqual(['new.txt']);
});

test('a folder that cannot be read is hidden if something may match in it, because its owner could open it', async () => {
  world.file('work/locked/a.env', 'secret');
  world.file('work/locked-exact/a.env', 'secret');
  chmodSync(join(world.workspace, 'locked'), 0o100);
  chmodSync(join(world.workspace, 'locked-exact'), 0o000);
  const bounds = hiding(below('**/*.env', 'locked-exact/a.env'));
  const { stdout } = await world.bash(
    'chmod 700 locked locked-exact; cat locked/a.env locked-exact/a.env',
    bounds,
  );
  chmodSync(join(world.workspace, 'locked'), 0o700);
  chmodSync(join(world.workspace, 'locked-exact'), 0o700);
  expect(stdout).toBe('');
});

test('a working directory that is hidden is refused, and so is a hidden name that the sandbox cannot write', async () => {
  world.file('work/sub/a');
  await expect(
    world.bash('true', hiding(below('s*')), join(world.workspace, 'sub')),
  ).rejects.toThrow(/cannot be used, because \S+sub is hidden by the pattern :workspace_roots/);
  writeFileSync(
    Buffer.concat([Buffer.from(`${world.workspace}/x`), Buffer.from([0xff]), Buffer.from('.env')]),
    '',
  );
  await expect(world.bash('true', hiding(below('*.env')))).rejects.toThrow(
    /too long or not UTF-8.*Rename it/,
  );
  expect((await world.bash('true', hiding(below('*.txt')))).exitCode).toBe(0);
});

test('only a restricted view shows files outside, and patterns hide in it too', async () => {
  world.file('work/a.env', 'a');
  world.file('work/b', 'b');
  const readable = { roots: [world.workspace], platformDefaults: true };
  const hidden = [...below('*.env'), { path: `${world.outside}/*`, depthMax: null }];
  world.file('outside/c', 'c');
  expect(
    await readBy(
      hiding(hidden, { readable: { ...readable, roots: [world.workspace, world.outside] } }),
      ['a.env', 'b', '../outside/c'],
    ),
  ).toEqual(['b']);
});

test('hundreds of matches are hidden, more than the limit are refused with what to do, and so is a search that takes too long', async () => {
  for (let folder = 0; folder < 30; folder++)
    for (let file = 0; file < 10; file++) world.file(`work/d${folder}/${file}.env`, 'secret');
  const patterns = below('**/*.env');
  expect(
    (await world.bash('cat d*/*.env 2>/dev/null | wc -c', hiding(patterns))).stdout.trim(),
  ).toBe('0');
  const { hidden = [] } = hiding(patterns);
  await expect(findHidden(hidden, { msMax: -1 })).rejects.toThrow(
    /did not end within.*glob_scan_max_depth/,
  );
  for (let folder = 0; folder < 30; folder++)
    for (let file = 10; file < 80; file++) world.file(`work/d${folder}/${file}.env`, 'secret');
  await expect(world.bash('true', hiding(patterns))).rejects.toThrow(
    /^2\d\d\d files and folders or more are hidden, such as .*\.env.*match the folders/s,
  );
});

test('many matches with any names are hidden like few, and commands are the same user and can do no more', async () => {
  const odd = [
    'a b',
    'a\nb',
    'a\\040b',
    '#',
    'é',
    "it's",
    '"',
    '-',
    '$x',
    '\t',
    '{a}',
    '%s',
    '=,',
  ].map((name) => `odd ${name}/${name}.env`);
  const plain = Array.from({ length: 200 }, (_, index) => `plain/${index % 7}/${index}.env`);
  const inFolders = Array.from({ length: 40 }, (_, index) => `of ${index}/keys/k.txt`);
  const secrets = [...odd, ...plain, ...inFolders];
  for (const name of [...secrets, 'plain/1/a.txt', 'odd é/é.txt', 'of 1/k.txt'])
    world.file(`work/${name}`, name);
  const [few, many] = [hiding(below('plain/0/0.env')), hiding(below('**/*.env', '*/keys'))];
  expect(await readBy(many, [...secrets, 'plain/1/a.txt', 'odd é/é.txt', 'of 1/k.txt'])).toEqual([
    'plain/1/a.txt',
    'odd é/é.txt',
    'of 1/k.txt',
  ]);
  for (const script of [
    'echo x > plain/0/0.env',
    'rm plain/1/1.env',
    'mv plain other',
    'mv "of 2" x',
    'echo x > "of 3/keys/new"',
    'umount plain/0/0.env',
  ])
    expect((await world.bash(script, many)).exitCode, script).not.toBe(0);
  const facts =
    'id; cat /proc/self/uid_map | wc -l; grep -E "^(Cap|NoNewPrivs|Seccomp)" /proc/self/status; ls -ln . | head -3; ls /proc/self/fd; unshare -U true; echo $?';
  expect(await world.bash(facts, many)).toEqual(await world.bash(facts, few));
  expect(
    (await world.bash('echo new > plain/0/new; cat plain/0/new; rm plain/0/new', many)).stdout,
  ).toBe('new\n');
  expect((await world.bash('exit 7', many)).exitCode).toBe(7);
});

test('many matches are hidden in a terminal and with a network of its own, by mounts that bubblewrap need not make one by one', async () => {
  for (let index = 0; index < 150; index++) world.file(`work/${index}.env`, 'secret');
  world.file('work/plain', 'plain');
  const bounds = hiding(below('*.env'));
  const script = 'cat *.env plain 2>/dev/null';
  expect((await world.inTerminal(['sh', '-c', script], bounds)).stdout).toBe('plain');
  expect(await world.bash(script, { ...bounds, managedNetwork: true })).toEqual({
    exitCode: 1,
    stdout: 'plain',
    stderr: '',
  });
  const confined = await world.sandbox.confine(
    { argv: ['true'], cwd: world.workspace, env: {}, terminal: false },
    world.bounds({ ...bounds, managedNetwork: false }),
  );
  await confined.release();
  expect(confined.argv).not.toContain(join(world.workspace, '1.env'));
});

/** In a container, root may not. */
const canMount = spawnSync('unshare', ['--mount', 'true']).status === 0;

test.skipIf(!canMount)(
  'many matches are hidden also where file systems are mounted in the workspace',
  async () => {
    for (let index = 0; index < 150; index++) world.file(`work/in/${index}.env`, 'secret');
    const sources = ['none', 'tmpfs'];
    const folders = sources.flatMap((source) => [
      `${source}-keys`,
      `${source}/sub/keys`,
      `${source}/data`,
    ]);
    for (const folder of folders) {
      const path = world.folder('work', folder);
      execFileSync('mount', ['-t', 'tmpfs', folder.split(/[-/]/)[0] ?? '', path]);
      world.file(`work/${folder}/k.txt`, folder);
    }
    try {
      const names = folders.map((folder) => `${folder}/k.txt`);
      const plain = sources.map((source) => `${source}/data/k.txt`);
      expect(
        await readBy(hiding(below('**/*.env', '*-keys', '**/keys')), [...names, 'in/1.env']),
      ).toEqual(plain);
    } finally {
      for (const folder of folders) execFileSync('umount', [join(world.workspace, folder)]);
    }
  },
);

test('a command has the same variables, whether few or many files are hidden, and others do not see them in its arguments', async () => {
  for (let index = 0; index < 150; index++) world.file(`work/${index}.env`, 'secret');
  const env = {
    PATH: '/usr/bin:/bin',
    'a.b': 'c',
    'X-Y': '1',
    IFS: 'q',
    OPTIND: '7',
    SHLVL: '3',
    OLDPWD: '/x',
    KEY: 'a secret',
    LD_X: '1',
  };
  const run = async (pattern: string) => {
    const command = { argv: ['/usr/bin/env'], cwd: world.workspace, env, terminal: false };
    const { argv, files, release, ...confined } = await world.sandbox.confine(
      command,
      world.bounds(hiding(below(pattern))),
    );
    const [program = '', ...args] = argv;
    const options = { cwd: world.workspace, env: { ...confined.env }, encoding: 'utf8' } as const;
    const { stdout } = spawnSync(program, args, {
      ...options,
      stdio: ['ignore', 'pipe', 'inherit', ...files],
    });
    await release();
    expect(argv.join(' ')).not.toContain(env.KEY);
    return stdout.split('\n').sort();
  };
  const few = await run('1.env');
  expect(few).toEqual(
    [
      '',
      ...Object.entries({ ...env, PWD: world.workspace }).map(
        ([name, value]) => `${name}=${value}`,
      ),
    ].sort(),
  );
  expect(await run('*.env')).toEqual(few);
});

test('a depth limits the search', async () => {
  for (const name of ['a.env', 'x/b.env', 'x/y/c.env']) world.file(`work/${name}`, name);
  const names = ['a.env', 'x/b.env', 'x/y/c.env'];
  const readAt = (depthMax: number) =>
    readBy(hiding([{ path: ':workspace_roots/**/*.env', depthMax }]), names);
  expect(await readAt(1)).toEqual(['x/b.env', 'x/y/c.env']);
  expect(await readAt(2)).toEqual(['x/y/c.env']);
  expect(await readAt(3)).toEqual([]);
});

const name = fc.constantFrom('a', 'b', 'ab', 'a.e', 'b.e', '.e', 'a-b', '[', '*');
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
const part = fc.constantFrom(
  '*',
  '**',
  'a',
  'b',
  'a*',
  '*.e',
  '?',
  '??',
  '[ab]',
  '[!a]',
  '{a,b}',
  '{a,ab}.e',
  '*b*',
  '\\[',
  '\\*',
  '.e',
);
const pattern = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));

/** A matcher that tries everything. */
function matches(parts: readonly string[], names: readonly string[]): boolean {
  const [first, ...rest] = parts;
  if (first === undefined) return names.length === 0;
  if (first === '**') {
    const least = rest.length === 0 ? 1 : 0;
    return Array.from({ length: names.length + 1 - least }, (_, taken) => taken + least).some(
      (taken) => matches(rest, names.slice(taken)),
    );
  }
  const [head, ...tail] = names;
  return head !== undefined && expression(first).test(head) && matches(rest, tail);
}

function expression(text: string): RegExp {
  const source = text.replace(
    /\\(.)|\{([^}]*)\}|\[!([^\]]*)\]|\[([^\]]*)\]|[*?.]/g,
    (whole, ...groups) => {
      const [escaped, choices, not, set] = groups as (string | undefined)[];
      if (escaped !== undefined) return `\\${escaped}`;
      if (choices !== undefined) return `(?:${choices.replaceAll(',', '|')})`;
      if (not !== undefined) return `[^${not}]`;
      if (set !== undefined) return `[${set}]`;
      return whole === '*' ? '.*' : whole === '?' ? '.' : '\\.';
    },
  );
  return new RegExp(`^(?:${source})$`, 'su');
}

function isHiddenBy(patterns: readonly string[], file: string): boolean {
  const names = file.split('/');
  return patterns.some((each) =>
    names.some((_, index) => matches(each.split('/'), names.slice(0, index + 1))),
  );
}

test('in any tree and for any patterns, commands read exactly the files that do not match', async () => {
  const tree = fc.record({
    paths: fc.array(path, { minLength: 6, maxLength: 14 }),
    patterns: fc.array(pattern, { minLength: 1, maxLength: 3 }),
  });
  const files: string[] = [];
  const readable: string[] = [];
  const hidden: string[] = [];
  for (const [index, { paths, patterns }] of fc
    .sample(tree, { numRuns: 60, seed: 4711 })
    .entries()) {
    const own = new Set<string>();
    for (const file of paths) {
      const at = join(world.workspace, `tree${index}`, file);
      try {
        mkdirSync(dirname(at), { recursive: true });
        writeFileSync(at, 'x');
        own.add(file);
      } catch {
        // A file of an earlier path is in the way.
      }
    }
    hidden.push(...patterns.map((each) => `tree${index}/${each}`));
    files.push(...[...own].map((file) => `tree${index}/${file}`));
    readable.push(
      ...[...own]
        .filter((file) => !isHiddenBy(patterns, file))
        .map((file) => `tree${index}/${file}`),
    );
  }
  expect(readable.length).toBeGreaterThan(files.length / 4);
  expect(await readBy(hiding(below(...hidden)), files)).toEqual(readable);
});
