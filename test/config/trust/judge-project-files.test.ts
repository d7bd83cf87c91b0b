import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { configWarnings } from '../../../src/config/problems/config-warnings.ts';
import {
  judgeProjectFiles,
  type ProjectFile,
} from '../../../src/config/trust/judge-project-files.ts';
import { TrustRecordFile } from '../../../src/config/trust/trust-record-file.ts';
import { sourcesIn } from '../load.ts';
import { tempFolder, writeFiles } from '../temp-folder.ts';

const FILE = '.codex/config.toml';
const RECORD_BYTES_MAX = 512 * 1024;

/** A home, and a project in which every `project` folder has a `.git`. */
class World {
  readonly base = tempFolder({ 'home/config.toml': '', 'project/.git/HEAD': '' });
  readonly home = join(this.base, 'home');
  readonly project = join(this.base, 'project');
  readonly record = join(this.home, 'heddle-trust.jsonl');
  /** The folders that the user trusts. */
  trusted: string[] = [this.project];

  get user() {
    return {
      projects: Object.fromEntries(this.trusted.map((path) => [path, { trust_level: 'trusted' }])),
    };
  }

  write(files: Record<string, string>): void {
    writeFiles(this.project, files);
  }

  /**
   * The files from the project's root to a folder, as a process sees them that has just started.
   */
  async look(
    folder = '',
    trustedFiles = new TrustRecordFile({ home: this.home }),
  ): Promise<ProjectFile[]> {
    const { files } = await judgeProjectFiles(
      { cwd: join(this.project, folder), home: this.home, user: this.user },
      trustedFiles,
    );
    return files;
  }

  /** The folders whose file is in force. */
  async inForce(folder = ''): Promise<string[]> {
    return (await this.look(folder))
      .filter(({ isInForce }) => isInForce)
      .map((file) => file.folder.slice(this.project.length + 1));
  }

  async reason(folder = ''): Promise<string | undefined> {
    const file = (await this.look(folder)).findLast(({ isInForce }) => !isInForce);
    return file?.isInForce === false ? file.reason : undefined;
  }
}

test('the first sight of a trusted project records the files from its root to the folder, for the user alone', async () => {
  const world = new World();
  world.write({ [FILE]: 'a = 1\n', [`sub/${FILE}`]: 'b = 1\n', [`other/${FILE}`]: 'c = 1\n' });
  const old = process.umask(0);
  try {
    expect(await world.inForce('sub')).toEqual(['', 'sub']);
  } finally {
    process.umask(old);
  }
  expect(await world.inForce('other')).toEqual(['']);
  expect(statSync(world.record).mode & 0o777).toBe(0o600);
  const hash = expect.stringMatching(/^sha256:[0-9a-f]{64}$/);
  expect(JSON.parse(readFileSync(world.record, 'utf8'))).toEqual({
    folder: world.project,
    files: { [FILE]: hash, [`sub/${FILE}`]: hash },
    first: true,
  });
});

test('after that, a new file and a changed one are not in force before the user trusts them', async () => {
  const world = new World();
  world.write({ [FILE]: 'a = 1\n' });
  expect(await world.inForce()).toEqual(['']);
  world.write({ [FILE]: 'a = 2\n', [`sub/${FILE}`]: 'b = 1\n' });
  expect(await world.inForce('sub')).toEqual([]);
  const [changed, added] = await world.look('sub');
  expect([changed, added]).toMatchObject([
    { isInForce: false, isFolderTrusted: true, offered: { isChanged: true, relativePath: FILE } },
    {
      isInForce: false,
      isFolderTrusted: true,
      offered: { isChanged: false, relativePath: `sub/${FILE}`, entry: world.project },
    },
  ]);
  if (added?.isInForce !== false || added.offered === null) throw new Error('nothing is offered');
  const { entry, relativePath, hash, bytes } = added.offered;
  expect(bytes.toString()).toBe('b = 1\n');
  new TrustRecordFile({ home: world.home }).trust([
    { folder: entry, files: { [relativePath]: hash } },
  ]);
  expect(await world.inForce('sub')).toEqual(['sub']);
  world.write({ [FILE]: 'a = 1\n', [`sub/${FILE}`]: 'b = 1 # \n' });
  expect(await world.inForce('sub')).toEqual(['']);
});

test('a project without such files is recorded too, so that a file which a command makes is new', async () => {
  const world = new World();
  expect(await world.look()).toEqual([]);
  world.write({ [FILE]: 'a = 1\n' });
  expect(await world.inForce()).toEqual([]);
});

test('every trusted folder is recorded at once, wherever the thread works', async () => {
  const world = new World();
  const other = join(world.base, 'other');
  writeFiles(other, { [FILE]: 'a = 1\n', 'sub/x': '' });
  world.trusted = [world.project, other, join(world.base, 'missing')];
  await world.look();
  const inOther = async (cwd: string) => {
    const { files } = await judgeProjectFiles(
      { cwd, home: world.home, user: world.user },
      new TrustRecordFile({ home: world.home }),
    );
    return files;
  };
  expect(await inOther(other)).toMatchObject([{ isInForce: true }]);
  writeFiles(other, { [FILE]: 'a = 2\n' });
  writeFiles(join(world.base, 'missing'), { [FILE]: 'a = 1\n' });
  expect([
    ...(await inOther(other)),
    ...(await inOther(join(world.base, 'missing'))),
  ]).toMatchObject([{ isInForce: false }, { isInForce: false }]);
});

test('a folder that the user begins to trust later is a first sight of its own', async () => {
  const world = new World();
  await world.look();
  world.write({ [`sub/${FILE}`]: 'a = 1\n' });
  expect(await world.inForce('sub')).toEqual([]);
  world.trusted.push(join(world.project, 'sub'));
  expect(await world.inForce('sub')).toEqual(['sub']);
});

describe('trust stays with the content', () => {
  test('if another folder takes the place of the trusted one', async () => {
    const world = new World();
    world.write({ [FILE]: 'a = 1\n' });
    expect(await world.inForce()).toEqual(['']);
    renameSync(world.project, join(world.base, 'moved'));
    world.write({ '.git/HEAD': '', [FILE]: 'a = 2\n' });
    expect(await world.inForce()).toEqual([]);
  });

  test('if a link to another folder takes the place of the trusted one', async () => {
    const world = new World();
    world.write({ [FILE]: 'a = 1\n' });
    expect(await world.inForce()).toEqual(['']);
    renameSync(world.project, join(world.base, 'moved'));
    writeFiles(join(world.base, 'theirs'), { '.git/HEAD': '', [FILE]: 'a = 2\n' });
    symlinkSync('theirs', world.project);
    expect(await world.look()).toMatchObject([{ isInForce: false, offered: { isChanged: true } }]);
  });

  test('if the root of the repository moves up', async () => {
    const world = new World();
    rmSync(join(world.project, '.git'), { recursive: true });
    expect(await world.look()).toEqual([]);
    mkdirSync(join(world.base, '.git', 'refs'), { recursive: true });
    world.write({ [FILE]: 'a = 1\n' });
    expect(await world.inForce()).toEqual([]);
  });

  test('if the file becomes a link to other content in the project', async () => {
    const world = new World();
    world.write({ [FILE]: 'a = 1\n', 'other.toml': 'a = 2\n' });
    expect(await world.inForce()).toEqual(['']);
    rmSync(join(world.project, FILE));
    symlinkSync('../other.toml', join(world.project, FILE));
    expect(await world.inForce()).toEqual([]);
  });
});

describe('a file that cannot be read is not in force, and does not delay anything', () => {
  test.each([
    ['a pipe', (file: string) => execFileSync('mkfifo', [file]), 'is not a regular file'],
    ['a folder', (file: string) => mkdirSync(file), 'cannot be read: '],
    [
      'a large file',
      (file: string) => writeFileSync(file, 'x'.repeat(256 * 1024 + 1)),
      'is larger than 262144 bytes',
    ],
    [
      'a link out of the project',
      (file: string) => symlinkSync('/etc/hostname', file),
      'is a symbolic link that leads out of the project',
    ],
  ])('%s', async (_, make, reason) => {
    const world = new World();
    mkdirSync(join(world.project, '.codex'));
    make(join(world.project, FILE));
    for (const _time of [1, 2]) expect(await world.reason()).toContain(reason);
    rmSync(join(world.project, FILE), { recursive: true });
    world.write({ [FILE]: 'a = 1\n' });
    expect(await world.inForce()).toEqual([]);
  });
});

describe('if the record cannot be read, nothing is trusted and nothing is recorded', () => {
  const broken: [string, string | Buffer, string][] = [
    ['a line that is not JSON', '{}{\n', 'line 1 is not valid'],
    ['a line of another shape', '\n{"folder":"/a","files":{"x":5}}\n', 'line 2 is not valid'],
    [
      'an incomplete line',
      '{"folder":"/a","files":{}}\n{"folder":"/b","fi\n',
      'line 2 is not valid',
    ],
    [
      'too many bytes',
      '\n'.repeat(RECORD_BYTES_MAX + 1),
      'it has 524289 bytes, and the limit is 524288',
    ],
    ['no UTF-8', Buffer.from([0xff, 0x0a]), 'not valid'],
  ];
  test.each(broken)('%s', async (_, text, reason) => {
    const world = new World();
    world.write({ [FILE]: 'a = 1\n' });
    expect(await world.inForce()).toEqual(['']);
    writeFileSync(world.record, text);
    expect(await world.inForce()).toEqual([]);
    expect(await world.reason()).toContain(
      `${join(world.project, FILE)} is not in force: ${world.record} cannot be read: `,
    );
    expect(await world.reason()).toContain(reason);
    expect(readFileSync(world.record).equals(Buffer.from(text))).toBe(true);
    const user = `[projects.${JSON.stringify(world.project)}]\ntrust_level = "trusted"\n`;
    writeFileSync(join(world.home, 'config.toml'), user);
    const warnings = await configWarnings(
      sourcesIn(world.home, { cwd: world.project, env: { OPENAI_API_KEY: 'k' } }),
    );
    expect(warnings[0]).toMatchObject({
      summary: expect.stringContaining(reason),
      path: world.record,
    });
    expect(() =>
      new TrustRecordFile({ home: world.home }).trust([{ folder: '/a', files: {} }]),
    ).toThrow(reason);
  });
});

test('the last line does not count while another process writes it', async () => {
  const world = new World();
  world.write({ [FILE]: 'a = 1\n' });
  expect(await world.inForce()).toEqual(['']);
  const record = readFileSync(world.record, 'utf8');
  world.write({ [FILE]: 'a = 2\n' });
  const [file] = await world.look();
  if (file?.isInForce !== false || file.offered === null) throw new Error('nothing is offered');
  const line = JSON.stringify({ folder: world.project, files: { [FILE]: file.offered.hash } });
  for (const part of [line.slice(0, 20), line]) {
    writeFileSync(world.record, record + part);
    expect(await world.reason()).toContain('its content has changed since you trusted it');
  }
  writeFileSync(world.record, `${record}${line}\n`);
  expect(await world.inForce()).toEqual(['']);
});

test('if the record cannot be written, trust lasts as long as the process, with a warning', async () => {
  const world = new World();
  world.write({ [FILE]: 'model = "a"\n' });
  writeFileSync(
    join(world.home, 'config.toml'),
    `[projects.${JSON.stringify(world.project)}]\ntrust_level = "trusted"\n`,
  );
  const full = '\n'.repeat(RECORD_BYTES_MAX - 10);
  writeFileSync(world.record, full);
  const trustedFiles = new TrustRecordFile({ home: world.home });
  const warnings = await configWarnings(
    sourcesIn(world.home, { cwd: world.project, env: { OPENAI_API_KEY: 'k' }, trustedFiles }),
  );
  expect(warnings).toEqual([
    {
      summary: `${world.record} cannot be written: the file would be larger than 524288 bytes. Until you correct that, heddle notices changes to the files of your trusted projects only while it runs.`,
      details: null,
      path: world.record,
      range: null,
    },
  ]);
  expect(await world.look('', trustedFiles)).toMatchObject([{ isInForce: true }]);
  world.write({ [FILE]: 'model = "b"\n' });
  expect(await world.look('', trustedFiles)).toMatchObject([{ isInForce: false }]);
  expect(() => trustedFiles.trust([{ folder: world.project, files: {} }])).toThrow(
    'cannot be written: the file would be larger',
  );
  expect(readFileSync(world.record, 'utf8')).toBe(full);
});

test('without writing, what would be recorded counts for the process, without a warning', async () => {
  const world = new World();
  const trustedFiles = new TrustRecordFile({ home: world.home, writes: false });
  expect(await world.look('', trustedFiles)).toEqual([]);
  world.write({ [FILE]: 'a = 1\n' });
  expect(await world.look('', trustedFiles)).toMatchObject([{ isInForce: false }]);
  expect(trustedFiles.problem).toBe(null);
  expect(() => statSync(world.record)).toThrow('ENOENT');
});

test('an earlier record that others can read is made private when heddle writes to it', async () => {
  const world = new World();
  writeFileSync(world.record, '', { mode: 0o644 });
  await world.look();
  expect(statSync(world.record).mode & 0o777).toBe(0o600);
});
