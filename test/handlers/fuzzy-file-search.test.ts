import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeFiles } from '../config/temp-folder.ts';
import type { TestClient } from '../support/test-client.ts';
import { startServer } from '../support/test-server.ts';

async function serverWith(files: Record<string, string>) {
  const server = await startServer();
  writeFiles(server.cwd, files);
  const find = async (query: string, roots = [server.cwd]) => {
    const { files: found } = await server.client.request('fuzzyFileSearch', { query, roots });
    return found.map(({ path }) => path);
  };
  return { ...server, find };
}

/** The processes of ripgrep that work below a folder. */
function listings(folder: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return (
        /^\d+$/.test(pid) &&
        readlinkSync(`/proc/${pid}/cwd`).startsWith(folder) &&
        readlinkSync(`/proc/${pid}/exe`).endsWith('/rg')
      );
    } catch {
      return false;
    }
  });
}

describe('fuzzyFileSearch', () => {
  test('finds files and folders, with the letters that match', async () => {
    const { client, cwd } = await serverWith({ 'src/alphabet.ts': '', 'zebra.txt': '' });
    expect(await client.request('fuzzyFileSearch', { query: 'bet', roots: [cwd] })).toEqual({
      files: [
        {
          root: cwd,
          path: 'src/alphabet.ts',
          match_type: 'file',
          file_name: 'alphabet.ts',
          score: expect.any(Number),
          indices: [9, 10, 11],
        },
      ],
    });
    const { files } = await client.request('fuzzyFileSearch', { query: 'src', roots: [cwd] });
    expect(files.map(({ path, match_type }) => [path, match_type])).toEqual([
      ['src', 'directory'],
      ['src/alphabet.ts', 'file'],
    ]);
  });

  test('leaves out what git ignores and the files of git itself; finds hidden files, and follows links', async () => {
    const { find, cwd, folder } = await serverWith({
      '.git/needle': '',
      '.gitignore': 'out/\n*.log\n',
      'out/needle': '',
      'needle.log': '',
      '.hidden/needle': '',
      'deep/.gitignore': 'needle2\n',
      'deep/needle1': '',
      'deep/needle2': '',
    });
    writeFiles(folder, { 'elsewhere/needle3': '' });
    symlinkSync(join(folder, 'elsewhere'), join(cwd, 'link'));
    symlinkSync(cwd, join(cwd, 'circle'));
    expect((await find('needle')).sort()).toEqual([
      '.hidden/needle',
      'deep/needle1',
      'link/needle3',
    ]);
  });

  test('finds nothing for an empty query, without roots, and in roots that are no folders; other roots are searched', async () => {
    const { find, cwd } = await serverWith({ 'a/needle': '', 'b/needle': '' });
    expect(await find('')).toEqual([]);
    expect(await find('needle', [])).toEqual([]);
    expect(
      await find('needle', [join(cwd, 'none'), join(cwd, 'a/needle'), join(cwd, 'b')]),
    ).toEqual(['needle']);
    expect(await find('needle', ['a'])).toEqual(['needle']);
  });

  test('a later search with the same token ends the earlier one, which finds nothing', async () => {
    const { client, cwd } = await serverWith({ 'needle.txt': '', 'hay.txt': '' });
    const search = (query: string, cancellationToken: string) =>
      client.request('fuzzyFileSearch', { query, roots: [cwd], cancellationToken });
    const all = [
      search('needle', 's'),
      search('needle', 't'),
      search('needle', 'u'),
      search('hay', 't'),
    ];
    // The second one waits behind the first, and is ended before it begins.
    expect((await Promise.all(all)).map(({ files }) => files.map(({ path }) => path))).toEqual([
      ['needle.txt'],
      [],
      ['needle.txt'],
      ['hay.txt'],
    ]);
  });
});

describe('a listing that does not come to its end', () => {
  const LISTS = test.runIf(existsSync('/proc/self/exe'));

  /** The warnings about the files below a folder. */
  const warnings = (client: TestClient, folder: string) =>
    client
      .notifications('warning')
      .flatMap(({ threadId, message }) =>
        threadId === null && message.includes(`in ${folder}: `) ? [message] : [],
      );

  LISTS(
    'because it waits, ends some seconds after its last file, and other searches go on',
    async () => {
      const { client, clock, cwd } = await serverWith({ 'a/needle': '', 'b/needle': '' });
      execFileSync('mkfifo', [join(cwd, 'a', '.gitignore')]);
      const folder = join(cwd, 'a');
      mkdirSync(join(folder, '.git'));
      const search = client.request('fuzzyFileSearch', { query: 'needle', roots: [folder] });
      await expect.poll(() => listings(cwd).length, { timeout: 5000, interval: 5 }).toBe(1);
      clock.advance(5_000);
      expect((await search).files).toEqual([]);
      expect(warnings(client, folder)).toEqual([
        expect.stringContaining('no file was found for 5 seconds'),
      ]);
      const { files } = await client.request('fuzzyFileSearch', {
        query: 'needle',
        roots: [join(cwd, 'b')],
      });
      expect(files).toMatchObject([{ path: 'needle' }]);
      expect(listings(cwd)).toEqual([]);
    },
  );

  LISTS('because it waits in one folder, has found the files of the others', async () => {
    const { client, clock, cwd } = await serverWith({ 'a/needle': '', 'b/hay': '' });
    mkdirSync(join(cwd, '.git'));
    execFileSync('mkfifo', [join(cwd, 'b', '.gitignore')]);
    await client.request('fuzzyFileSearch/sessionStart', { sessionId: 's', roots: [cwd] });
    await client.request('fuzzyFileSearch/sessionUpdate', { sessionId: 's', query: 'needle' });
    const found = () => {
      clock.advance(200);
      return client.notifications('fuzzyFileSearch/sessionUpdated').at(-1)?.files;
    };
    await expect.poll(found).toMatchObject([{ path: 'a/needle' }]);
    await client.request('fuzzyFileSearch/sessionStop', { sessionId: 's' });
  });

  LISTS.each(['.gitignore', '.ignore', '.rgignore'])(
    'because %s is a device, ends by its limit of memory, and that is told once',
    async (name) => {
      const { client, cwd } = await serverWith({ 'hay/x': '' });
      mkdirSync(join(cwd, '.git'));
      symlinkSync('/dev/zero', join(cwd, name));
      for (let times = 0; times < 2; times++)
        await client.request('fuzzyFileSearch', { query: 'needle', roots: [cwd] });
      expect(warnings(client, cwd)).toEqual([
        expect.stringContaining('exit code 134: perhaps a .gitignore'),
      ]);
    },
  );
});

test('a search has at most 64 roots', async () => {
  const { client, cwd } = await serverWith({});
  expect(
    await client.refusal('fuzzyFileSearch', { query: 'x', roots: Array(65).fill(cwd) }),
  ).toMatchObject({
    data: { code: 'too_many_roots' },
  });
});

describe('a search session', () => {
  test('fuzzyFileSearch/sessionStart lists the files once; each fuzzyFileSearch/sessionUpdate sends the matches, then that they are complete', async () => {
    const { client, cwd } = await serverWith({ 'alpha.txt': '', 'beta.txt': '' });
    const completed = () => client.notifications('fuzzyFileSearch/sessionCompleted').length;
    expect(
      await client.request('fuzzyFileSearch/sessionStart', { sessionId: 's', roots: [cwd] }),
    ).toEqual({});
    await client.first('the end of the listing', () => completed() === 1);
    for (const [query, path] of [
      ['alp', 'alpha.txt'],
      ['bet', 'beta.txt'],
    ]) {
      const before = completed();
      expect(
        await client.request('fuzzyFileSearch/sessionUpdate', {
          sessionId: 's',
          query: query ?? '',
        }),
      ).toEqual({});
      const update = await client.waitFor(
        'fuzzyFileSearch/sessionUpdated',
        (params) => params.query === query,
      );
      expect(update).toMatchObject({ sessionId: 's', files: [{ path }] });
      await client.first('completed', () => completed() === before + 1);
    }
    expect(await client.request('fuzzyFileSearch/sessionStop', { sessionId: 's' })).toEqual({});
    expect(await client.request('fuzzyFileSearch/sessionStop', { sessionId: 's' })).toEqual({});
    expect(
      await client.refusal('fuzzyFileSearch/sessionUpdate', { sessionId: 's', query: 'x' }),
    ).toEqual({
      code: -32600,
      message: 'fuzzy file search session not found: s',
      data: { code: 'search_session_not_found' },
    });
  });

  test('the last of many queries is answered, and none after a later one', async () => {
    const { client, cwd } = await serverWith(
      Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`d/file${n}`, ''])),
    );
    await client.request('fuzzyFileSearch/sessionStart', { sessionId: 's', roots: [cwd] });
    const queries = Array.from({ length: 20 }, (_, n) => `file${n}`);
    await Promise.all(
      queries.map((query) =>
        client.request('fuzzyFileSearch/sessionUpdate', { sessionId: 's', query }),
      ),
    );
    await client.waitFor(
      'fuzzyFileSearch/sessionUpdated',
      ({ query, files }) => query === 'file19' && files.length > 0,
    );
    const sent = client
      .notifications('fuzzyFileSearch/sessionUpdated')
      .map(({ query }) => queries.indexOf(query));
    expect(sent).toEqual(sent.toSorted((a, b) => a - b));
  });

  test('sessions belong to their connection, and are limited in number', async () => {
    const { client, cwd, connect } = await serverWith({ 'a.txt': '' });
    const other = await connect();
    await other.request('fuzzyFileSearch/sessionStart', { sessionId: 's', roots: [cwd] });
    expect(
      await client.refusal('fuzzyFileSearch/sessionUpdate', { sessionId: 's', query: 'a' }),
    ).toMatchObject({ code: -32600 });
    for (let n = 0; n < 32; n++)
      await client.request('fuzzyFileSearch/sessionStart', { sessionId: `${n}`, roots: [cwd] });
    await client.request('fuzzyFileSearch/sessionStart', { sessionId: '31', roots: [cwd] });
    expect(
      await client.refusal('fuzzyFileSearch/sessionStart', { sessionId: '32', roots: [cwd] }),
    ).toMatchObject({
      data: { code: 'too_many_search_sessions' },
    });
    await client.request('fuzzyFileSearch/sessionStop', { sessionId: '0' });
    await client.request('fuzzyFileSearch/sessionStart', { sessionId: '32', roots: [cwd] });
  });

  test('needs an id and roots', async () => {
    const { client, cwd } = await serverWith({});
    expect(
      await client.refusal('fuzzyFileSearch/sessionStart', { sessionId: '', roots: [cwd] }),
    ).toMatchObject({
      message: 'sessionId must not be empty',
    });
    expect(
      await client.refusal('fuzzyFileSearch/sessionStart', { sessionId: 's', roots: [] }),
    ).toMatchObject({
      message: 'roots must not be empty',
    });
  });

  test.runIf(existsSync('/proc/self/exe'))(
    'a listing ends with its session, with its connection and with the server',
    async () => {
      const { client, cwd, connect, close } = await serverWith({});
      // Each link to the folder itself would be followed without end, if ripgrep did not notice; so
      // many folders take it seconds.
      for (let n = 0; n < 40; n++) {
        mkdirSync(join(cwd, `${n}`));
        for (let m = 0; m < 40; m++) symlinkSync('/usr/share', join(cwd, `${n}`, `${m}`));
      }
      const other = await connect();
      const listing = (count: number) =>
        expect.poll(() => listings(cwd).length, { timeout: 5000, interval: 5 }).toBe(count);
      await client.request('fuzzyFileSearch/sessionStart', { sessionId: 's', roots: [cwd] });
      await other.request('fuzzyFileSearch/sessionStart', { sessionId: 's', roots: [cwd] });
      await listing(2);
      await client.request('fuzzyFileSearch/sessionStop', { sessionId: 's' });
      await listing(1);
      await other.close();
      await listing(0);
      await client.request('fuzzyFileSearch/sessionStart', { sessionId: 's', roots: [cwd] });
      await listing(1);
      await close();
      expect(listings(cwd)).toEqual([]);
    },
  );
});
