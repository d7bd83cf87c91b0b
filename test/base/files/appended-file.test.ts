import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { AppendedFile } from '../../../src/base/files/appended-file.ts';
import { tempFolder } from '../../config/temp-folder.ts';

function appended() {
  const folder = tempFolder({ 'outside/secret': 'theirs\n' });
  mkdirSync(join(folder, 'logs'));
  const path = join(folder, 'logs', 'x.log');
  const file = new AppendedFile(path);
  onTestFinished(() => file.close());
  file.append('1\n');
  return {
    folder,
    path,
    file,
    old: join(folder, 'logs', 'old'),
    secret: join(folder, 'outside', 'secret'),
  };
}

const text = (path: string) => readFileSync(path, 'utf8');

test.each<[string, (paths: { path: string; old: string }) => void, string | null]>([
  ['is moved away', ({ path, old }) => renameSync(path, old), '1\n'],
  ['is removed', ({ path }) => rmSync(path), null],
  [
    'is moved away, and an empty one is made in its place',
    ({ path, old }) => {
      renameSync(path, old);
      writeFileSync(path, '', { mode: 0o644 });
    },
    '1\n',
  ],
])(
  'if the file %s, the next text goes to the file that has its name, for its user alone',
  (_, rotate, moved) => {
    const { path, file, old } = appended();
    for (const line of ['2\n', '3\n']) {
      rotate({ path, old });
      file.append(line);
      file.append('more\n');
      expect([text(path), statSync(path).mode & 0o777]).toEqual([`${line}more\n`, 0o600]);
      if (line === '2\n') expect(existsSync(old) ? text(old) : null).toBe(moved);
    }
  },
);

/**
 * The ways in which a file is moved away: by the program that writes it, or by another one, which
 * may make a new file.
 */
const ROTATIONS: Record<string, (at: { file: AppendedFile; path: string; end: string }) => void> = {
  'set aside': ({ file, end }) => file.setAside(end),
  move: ({ path, end }) => {
    if (existsSync(path)) renameSync(path, `${path}${end}`);
  },
  'move and make': ({ path, end }) => {
    if (existsSync(path)) renameSync(path, `${path}${end}`);
    writeFileSync(path, '');
  },
};

test('whatever moves files away, each line is once in one of them, in order', () => {
  const steps = fc.array(fc.constantFrom('line', ...Object.keys(ROTATIONS)), { maxLength: 20 });
  fc.assert(
    fc.property(steps, (done) => {
      const folder = mkdtempSync(join(tempFolder(), 'logs-'));
      const path = join(folder, 'x.log');
      const file = new AppendedFile(path);
      for (const [number, what] of done.entries()) {
        if (what === 'line') file.append(`${number}\n`);
        else ROTATIONS[what]?.({ file, path, end: `.${String(number).padStart(2, '0')}` });
      }
      file.close();
      const moved = readdirSync(folder).filter((name) => name !== 'x.log');
      const all = [...moved.sort(), ...(existsSync(path) ? ['x.log'] : [])].map((name) =>
        text(join(folder, name)),
      );
      const lines = [...done.entries()].flatMap(([number, what]) =>
        what === 'line' ? [`${number}\n`] : [],
      );
      expect(all.join('')).toBe(lines.join(''));
    }),
    { numRuns: 60 },
  );
});

test('if the file is emptied in its place, the next text is its first', () => {
  const { path, file } = appended();
  truncateSync(path);
  file.append('2\n');
  expect([text(path), file.bytes()]).toEqual(['2\n', 2]);
});

test.each<[string, (paths: { path: string; secret: string }) => void]>([
  ['a symbolic link', ({ path, secret }) => symlinkSync(secret, path)],
  ['a symbolic link to nothing', ({ path, secret }) => symlinkSync(`${secret}2`, path)],
  ['a second name of another file', ({ path, secret }) => linkSync(secret, path)],
  ['a folder', ({ path }) => mkdirSync(path)],
])(
  'nothing is written through %s in the place of the file: the old one takes the text',
  (_, plant) => {
    const { folder, path, file, old, secret } = appended();
    renameSync(path, old);
    plant({ path, secret });
    file.append('2\n');
    file.append('3\n');
    expect([text(old), text(secret), readdirSync(join(folder, 'outside'))]).toEqual([
      '1\n2\n3\n',
      'theirs\n',
      ['secret'],
    ]);
  },
);

test.runIf(process.platform === 'linux')(
  'a folder in the place of that of the file gets nothing',
  () => {
    const { folder, path, file } = appended();
    renameSync(join(folder, 'logs'), join(folder, 'moved'));
    symlinkSync(join(folder, 'outside'), join(folder, 'logs'));
    rmSync(join(folder, 'moved', 'x.log'));
    file.append('2\n');
    expect([
      text(join(folder, 'moved', 'x.log')),
      readdirSync(join(folder, 'outside')),
      existsSync(path),
    ]).toEqual(['2\n', ['secret'], false]);
  },
);

test('the link by which the user names the file leads to it for good', () => {
  const folder = tempFolder({ 'real/x.log': '' });
  symlinkSync(join(folder, 'real', 'x.log'), join(folder, 'link'));
  const file = new AppendedFile(join(folder, 'link'));
  file.append('1\n');
  rmSync(join(folder, 'real', 'x.log'));
  file.append('2\n');
  file.close();
  expect(text(join(folder, 'real', 'x.log'))).toBe('2\n');
});

test.runIf(process.platform === 'linux')(
  'a removed file that the path of a descriptor leads to takes the text',
  () => {
    const path = join(tempFolder({ 'x.log': '' }), 'x.log');
    const descriptor = openSync(path, 'a+');
    rmSync(path);
    const file = new AppendedFile(`/dev/fd/${descriptor}`);
    file.append('1\n');
    file.setAside('.1');
    file.append('2\n');
    file.close();
    expect(readFileSync(descriptor, 'utf8')).toBe('1\n2\n');
    closeSync(descriptor);
  },
);
