import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { writeFiles } from '../config/temp-folder.ts';
import { base64 } from '../support/base64.ts';
import { startServer } from '../support/test-server.ts';

const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8);

/** A server with files in its working folder, and `at` for paths in it. */
async function serverWith(files: Record<string, string | Buffer> = {}) {
  const server = await startServer();
  writeFiles(server.cwd, files);
  return { ...server, at: (path: string) => join(server.cwd, path) };
}

function pipe(path: string): string {
  execFileSync('mkfifo', [path]);
  return path;
}

async function socket(path: string): Promise<string> {
  const server = createServer().listen(path);
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  return path;
}

test.each([
  ['fs/readFile', { path: 'a' }],
  ['fs/writeFile', { path: 'a', dataBase64: '' }],
  ['fs/createDirectory', { path: 'a' }],
  ['fs/getMetadata', { path: 'a' }],
  ['fs/readDirectory', { path: './a' }],
  ['fs/remove', { path: '~/a' }],
  ['fs/copy', { sourcePath: 'a', destinationPath: '/b' }],
  ['fs/copy', { sourcePath: '/a', destinationPath: 'b' }],
  ['fs/watch', { watchId: 'w', path: '' }],
  ['fs/readFile', { path: '/a\0b' }],
  ['fs/readFile', {}],
  ['fs/unwatch', {}],
])('%s refuses %j', async (method, params) => {
  const { client } = await startServer();
  expect(await client.refusal(method, params)).toMatchObject({
    code: -32600,
    data: { code: 'invalid_params' },
  });
});

describe('fs/readFile', () => {
  test('reads files: empty ones, through links, and those whose size the system does not report', async () => {
    const bytes = Buffer.from([0, 1, 254, 255, 10, 13, 0]);
    const { client, at } = await serverWith({ 'b.bin': bytes, empty: '' });
    symlinkSync('b.bin', at('link'));
    expect(await client.request('fs/readFile', { path: at('b.bin') })).toEqual({
      dataBase64: base64(bytes),
    });
    expect(await client.request('fs/readFile', { path: at('x/.././link/') })).toEqual({
      dataBase64: base64(bytes),
    });
    expect(await client.request('fs/readFile', { path: at('empty') })).toEqual({ dataBase64: '' });
    if (existsSync('/proc/self/status'))
      expect(
        (await client.request('fs/readFile', { path: '/proc/self/status' })).dataBase64,
      ).not.toBe('');
  });

  test('says why a file cannot be read', async () => {
    const { client, at } = await serverWith({ 'd/x': '' });
    symlinkSync('circle', at('circle'));
    const none = at('none');
    expect(await client.refusal('fs/readFile', { path: none })).toEqual({
      code: -32603,
      message: `No such file or directory (os error 2): ${none}`,
      data: { code: 'file_not_found', path: none },
    });
    expect(await client.refusal('fs/readFile', { path: at('d/x/y') })).toMatchObject({
      data: { code: 'not_a_directory' },
    });
    expect(await client.refusal('fs/readFile', { path: at('circle') })).toMatchObject({
      data: { code: 'too_many_links' },
    });
    expect(await client.refusal('fs/readFile', { path: at('n'.repeat(300)) })).toMatchObject({
      data: { code: 'name_too_long' },
    });
  });

  test('refuses pipes, sockets, devices and folders without waiting for them', async () => {
    const { client, at } = await serverWith({ 'd/x': '' });
    for (const path of [
      pipe(at('pipe')),
      await socket(at('socket')),
      '/dev/zero',
      '/dev/tty',
      at('d'),
    ]) {
      expect(await client.refusal('fs/readFile', { path })).toEqual({
        code: -32600,
        message: `path \`${path}\` is not a file`,
        data: { code: 'not_a_file', path },
      });
    }
  });

  test('reads files that are small enough to write back, and refuses larger ones', async () => {
    const limit = 25_116_672;
    const { client, at } = await serverWith({
      large: Buffer.alloc(limit, 'x'),
      larger: Buffer.alloc(limit + 1),
    });
    const reads = [1, 2, 3].map(() => client.request('fs/readFile', { path: at('large') }));
    for (const { dataBase64 } of await Promise.all(reads))
      expect(dataBase64).toHaveLength((limit / 3) * 4);
    const refused = { code: -32600, data: { code: 'file_too_large', path: at('larger') } };
    expect(await client.refusal('fs/readFile', { path: at('larger') })).toMatchObject(refused);
  });
});

describe('fs/writeFile', () => {
  test('creates and replaces files, and leaves no other files behind', async () => {
    const { client, at, cwd } = await serverWith({ 'a.txt': 'a longer text' });
    expect(
      await client.request('fs/writeFile', { path: at('a.txt'), dataBase64: base64('short') }),
    ).toEqual({});
    expect(await client.request('fs/writeFile', { path: at('new'), dataBase64: '' })).toEqual({});
    expect([
      readFileSync(at('a.txt'), 'utf8'),
      readFileSync(at('new'), 'utf8'),
      readdirSync(cwd),
    ]).toEqual(['short', '', ['a.txt', 'new']]);
  });

  test('keeps the permissions except set-user-id bits, and follows links', async () => {
    const { client, at } = await serverWith({ script: '#!', suid: 's', target: 't' });
    chmodSync(at('script'), 0o750);
    chmodSync(at('suid'), 0o4755);
    symlinkSync('target', at('link'));
    symlinkSync('later', at('dangling'));
    for (const name of ['script', 'suid', 'link', 'dangling'])
      await client.request('fs/writeFile', { path: at(name), dataBase64: base64('new') });
    expect([modeOf(at('script')), modeOf(at('suid'))]).toEqual(['750', '755']);
    expect([readFileSync(at('target'), 'utf8'), readFileSync(at('later'), 'utf8')]).toEqual([
      'new',
      'new',
    ]);
    expect([readlinkSync(at('link')), readlinkSync(at('dangling'))]).toEqual(['target', 'later']);
  });

  test('keeps the other hard links of a file', async () => {
    const { client, at } = await serverWith({ one: 'a longer text' });
    linkSync(at('one'), at('other'));
    await client.request('fs/writeFile', { path: at('one'), dataBase64: base64('new') });
    expect(readFileSync(at('other'), 'utf8')).toBe('new');
  });

  test.each(['!!!', 'eA', 'eA==\n', '-_-_', 'e===', 'eA==eA==', '####'])(
    'refuses %j, which is not base64',
    async (dataBase64) => {
      const { client, at } = await serverWith({ a: 'old' });
      const refused = { code: -32600, data: { code: 'invalid_encoding' } };
      expect(await client.refusal('fs/writeFile', { path: at('a'), dataBase64 })).toMatchObject(
        refused,
      );
      expect(readFileSync(at('a'), 'utf8')).toBe('old');
    },
  );

  test('refuses paths that cannot be files, without waiting', async () => {
    const { client, at } = await serverWith({ 'd/x': '' });
    const write = (path: string) =>
      client.refusal('fs/writeFile', { path, dataBase64: base64('x') });
    expect(await write(at('none/x'))).toMatchObject({
      code: -32603,
      data: { code: 'file_not_found', path: at('none/x') },
    });
    expect(await write(at('d'))).toMatchObject({ code: -32603, data: { code: 'is_a_directory' } });
    expect(await write(pipe(at('pipe')))).toMatchObject({
      code: -32600,
      data: { code: 'not_a_file' },
    });
    expect(await write('/dev/full')).toMatchObject({ code: -32600, data: { code: 'not_a_file' } });
  });

  test('a write and a read of one path, sent together, run in their order', async () => {
    const { client, at } = await serverWith();
    const [, read] = await Promise.all([
      client.request('fs/writeFile', { path: at('a'), dataBase64: base64('x'.repeat(100_000)) }),
      client.request('fs/readFile', { path: at('a') }),
    ]);
    expect(read).toEqual({ dataBase64: base64('x'.repeat(100_000)) });
  });
});

describe('fs/createDirectory', () => {
  test('creates missing parents and accepts an existing folder, unless recursive is false', async () => {
    const { client, at } = await serverWith({ file: '' });
    for (const recursive of [null, true])
      expect(await client.request('fs/createDirectory', { path: at('a/b/c'), recursive })).toEqual(
        {},
      );
    expect(statSync(at('a/b/c')).isDirectory()).toBe(true);
    expect(
      await client.request('fs/createDirectory', { path: at('a/b/d'), recursive: false }),
    ).toEqual({});
    expect(
      await client.refusal('fs/createDirectory', { path: at('x/y'), recursive: false }),
    ).toMatchObject({
      data: { code: 'file_not_found' },
    });
    expect(
      await client.refusal('fs/createDirectory', { path: at('a'), recursive: false }),
    ).toMatchObject({
      data: { code: 'already_exists' },
    });
    expect(await client.refusal('fs/createDirectory', { path: at('file') })).toMatchObject({
      data: { code: 'already_exists' },
    });
    expect(await client.refusal('fs/createDirectory', { path: at('file/x/y') })).toMatchObject({
      data: { code: 'not_a_directory' },
    });
    if (existsSync('/proc/self'))
      expect(await client.refusal('fs/createDirectory', { path: '/proc/nobody/x' })).toMatchObject({
        code: -32603,
      });
  });
});

describe('fs/getMetadata', () => {
  test('describes files, folders, links and special files', async () => {
    const { client, at } = await serverWith({ a: 'x', 'd/x': '' });
    symlinkSync('a', at('link'));
    symlinkSync('nowhere', at('dangling'));
    utimesSync(at('a'), 1_000_000, 1_234_567.891);
    const told = async (path: string) => client.request('fs/getMetadata', { path });
    const file = {
      isDirectory: false,
      isFile: true,
      isSymlink: false,
      modifiedAtMs: 1_234_567_891,
      createdAtMs: expect.any(Number),
    };
    expect(await told(at('a'))).toEqual(file);
    expect(await told(at('link'))).toEqual({ ...file, isSymlink: true });
    expect(await told(at('d'))).toMatchObject({
      isDirectory: true,
      isFile: false,
      isSymlink: false,
    });
    expect(await told(pipe(at('pipe')))).toMatchObject({
      isDirectory: false,
      isFile: false,
      isSymlink: false,
    });
    for (const name of ['dangling', 'none'])
      expect(await client.refusal('fs/getMetadata', { path: at(name) })).toMatchObject({
        code: -32603,
        data: { code: 'file_not_found' },
      });
  });
});

describe('fs/readDirectory', () => {
  test('lists children by name, and the kind of file that links lead to', async () => {
    const { client, at, cwd } = await serverWith({ b: 'x', 'd/x': '' });
    symlinkSync('b', at('link-to-file'));
    symlinkSync('d', at('link-to-folder'));
    symlinkSync('nowhere', at('link-to-nothing'));
    pipe(at('pipe'));
    writeFileSync(Buffer.concat([Buffer.from(`${cwd}/bad`), Buffer.from([0xff])]), '');
    expect(await client.request('fs/readDirectory', { path: cwd })).toEqual({
      entries: [
        { fileName: 'b', isDirectory: false, isFile: true },
        { fileName: 'bad\ufffd', isDirectory: false, isFile: true },
        { fileName: 'd', isDirectory: true, isFile: false },
        { fileName: 'link-to-file', isDirectory: false, isFile: true },
        { fileName: 'link-to-folder', isDirectory: true, isFile: false },
        { fileName: 'link-to-nothing', isDirectory: false, isFile: false },
        { fileName: 'pipe', isDirectory: false, isFile: false },
      ],
    });
    expect(await client.refusal('fs/readDirectory', { path: at('none') })).toMatchObject({
      data: { code: 'file_not_found' },
    });
    expect(await client.refusal('fs/readDirectory', { path: at('b') })).toMatchObject({
      data: { code: 'not_a_directory' },
    });
  });
});

describe('fs/remove', () => {
  test('removes files, trees and links, but not the targets of links', async () => {
    const { client, at, cwd } = await serverWith({ a: '', 'd/e/f': '', 'kept/x': '' });
    symlinkSync(at('kept'), at('d/e/link'));
    symlinkSync('kept', at('link'));
    pipe(at('d/pipe'));
    writeFileSync(Buffer.concat([Buffer.from(`${at('d')}/bad`), Buffer.from([0xff])]), '');
    for (const name of ['a', 'd', 'link'])
      expect(await client.request('fs/remove', { path: at(name) })).toEqual({});
    expect([readdirSync(cwd), readdirSync(at('kept'))]).toEqual([['kept'], ['x']]);
  });

  test('reports missing paths and non-empty folders if the client asks for that', async () => {
    const { client, at } = await serverWith({ 'd/e': '', file: '' });
    mkdirSync(at('empty'));
    expect(await client.request('fs/remove', { path: at('none/x') })).toEqual({});
    expect(await client.refusal('fs/remove', { path: at('none'), force: false })).toMatchObject({
      data: { code: 'file_not_found' },
    });
    expect(await client.refusal('fs/remove', { path: at('d'), recursive: false })).toMatchObject({
      data: { code: 'directory_not_empty' },
    });
    expect(await client.request('fs/remove', { path: at('empty'), recursive: false })).toEqual({});
    expect(await client.refusal('fs/remove', { path: at('file/x') })).toMatchObject({
      data: { code: 'not_a_directory' },
    });
    expect(await client.refusal('fs/remove', { path: '/' })).toMatchObject({
      code: -32600,
      data: { code: 'root_refused' },
    });
    expect(existsSync(at('d/e'))).toBe(true);
  });
});

describe('fs/copy', () => {
  test('copies a file with its permissions, also over another file, and links as links', async () => {
    const { client, at } = await serverWith({ a: 'x'.repeat(600_000), b: 'old' });
    chmodSync(at('a'), 0o4750);
    symlinkSync('a', at('link'));
    const copy = (from: string, to: string) =>
      client.request('fs/copy', { sourcePath: at(from), destinationPath: at(to) });
    for (const [from, to] of [
      ['a', 'b'],
      ['a', 'c'],
      ['link', 'link2'],
    ] as const)
      expect(await copy(from, to)).toEqual({});
    for (const name of ['b', 'c'])
      expect([readFileSync(at(name), 'utf8').length, modeOf(at(name))]).toEqual([600_000, '750']);
    expect(readlinkSync(at('link2'))).toBe('a');
  });

  test('copying a file onto itself, also by another name, does not change it', async () => {
    const { client, at } = await serverWith({ a: 'x' });
    linkSync(at('a'), at('same'));
    for (const name of ['a', 'same'])
      expect(
        await client.request('fs/copy', { sourcePath: at('a'), destinationPath: at(name) }),
      ).toEqual({});
    expect(readFileSync(at('a'), 'utf8')).toBe('x');
  });

  test('copies a tree with permissions, links as links, without pipes', async () => {
    const { client, at } = await serverWith({ 'd/e/f': 'f', 'd/run': '#!', 'd/locked/x': 'x' });
    symlinkSync('../outside', at('d/link'));
    pipe(at('d/pipe'));
    chmodSync(at('d/run'), 0o4711);
    chmodSync(at('d/locked'), 0o500);
    expect(
      await client.request('fs/copy', {
        sourcePath: at('d'),
        destinationPath: at('c'),
        recursive: true,
      }),
    ).toEqual({});
    expect(readdirSync(at('c'), { recursive: true }).toSorted()).toEqual([
      'e',
      'e/f',
      'link',
      'locked',
      'locked/x',
      'run',
    ]);
    expect([readlinkSync(at('c/link')), modeOf(at('c/run')), modeOf(at('c/locked'))]).toEqual([
      '../outside',
      '711',
      '500',
    ]);
    for (const folder of ['c/locked', 'd/locked']) chmodSync(at(folder), 0o700);
  });

  test('refuses impossible copies, and leaves no partial copy', async () => {
    const { client, at } = await serverWith({ 'd/e/f': 'f', a: 'x' });
    symlinkSync('d', at('way-in'));
    const copy = (from: string, to: string, recursive = true) =>
      client.refusal('fs/copy', { sourcePath: at(from), destinationPath: at(to), recursive });
    expect(await copy('none', 'b')).toMatchObject({
      code: -32603,
      data: { code: 'file_not_found', path: at('none') },
    });
    expect(await copy('d', 'c', false)).toMatchObject({
      code: -32600,
      data: { code: 'recursive_required' },
    });
    for (const to of ['d', 'd/in', 'd/e/new/in', 'way-in/in'])
      expect(await copy('d', to)).toMatchObject({ data: { code: 'copy_into_itself' } });
    expect(await copy('d', 'a')).toMatchObject({ data: { code: 'already_exists', path: at('a') } });
    expect(await copy('a', 'd')).toMatchObject({ data: { code: 'is_a_directory' } });
    expect(await copy('a', 'none/x')).toMatchObject({
      data: { code: 'file_not_found', path: at('none/x') },
    });
    pipe(at('pipe'));
    expect(await copy('pipe', 'p')).toMatchObject({ code: -32600, data: { code: 'not_copyable' } });
    expect(await copy('a', 'pipe')).toMatchObject({ code: -32600, data: { code: 'not_a_file' } });
    expect(
      ['b', 'c', 'd/in', 'p'].filter((name) => lstatSync(at(name), { throwIfNoEntry: false })),
    ).toEqual([]);
  });
});
