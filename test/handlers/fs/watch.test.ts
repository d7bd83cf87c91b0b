import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeFiles } from '../../config/temp-folder.ts';
import type { TestClient } from '../../support/test-client.ts';
import { startServer } from '../../support/test-server.ts';

const GATHER_MS = 100;

async function serverWith(files: Record<string, string> = {}) {
  const server = await startServer();
  const { client, clock, cwd } = server;
  writeFiles(cwd, files);
  const at = (path: string) => join(cwd, path);
  const told = new Map<string, number>();
  return {
    ...server,
    at,
    watch: (watchId: string, path: string) =>
      client.request('fs/watch', { watchId, path: at(path) }),
    /** Resolves with the next changed paths of a watch, when they have all come. */
    async changes(watchId: string, expected: string[], from: TestClient = client) {
      const before = told.get(watchId) ?? 0;
      const seen = () =>
        from.notifications('fs/changed', (changed) => changed.watchId === watchId).slice(before);
      const names = () =>
        [...new Set(seen().flatMap(({ changedPaths }) => changedPaths))].toSorted();
      while (!expected.every((path) => names().includes(at(path)))) {
        await clock.timerOf(GATHER_MS);
        const next = from.next('fs/changed', ({ method }) => method === 'fs/changed');
        clock.advance(GATHER_MS);
        await next;
      }
      told.set(watchId, before + seen().length);
      expect(names()).toEqual(expected.map(at).toSorted());
    },
  };
}

describe('a watched file', () => {
  test('is announced when it is written, replaced, removed and created again', async () => {
    const { watch, changes, at } = await serverWith({ a: '0', other: '' });
    expect(await watch('w', 'x/../a')).toEqual({ path: at('a') });
    writeFileSync(at('a'), '1');
    await changes('w', ['a']);
    writeFileSync(at('draft'), '2');
    renameSync(at('draft'), at('a'));
    await changes('w', ['a']);
    rmSync(at('a'));
    await changes('w', ['a']);
    writeFileSync(at('other'), 'says nothing');
    writeFileSync(at('a'), '3');
    await changes('w', ['a']);
  });

  test('does not have to exist, nor the folders above it', async () => {
    const { watch, changes, at } = await serverWith();
    await watch('w', 'no/such/file');
    mkdirSync(at('no/such'), { recursive: true });
    writeFileSync(at('no/such/file'), '');
    await changes('w', ['no/such/file']);
    rmSync(at('no'), { recursive: true });
    await changes('w', ['no/such/file']);
    mkdirSync(at('no/such'), { recursive: true });
    writeFileSync(at('no/such/file'), '');
    await changes('w', ['no/such/file']);
  });

  test('is announced under the name of the link that leads to it', async () => {
    const { watch, changes, at } = await serverWith({ 'far/target': '0', 'far/other': '0' });
    symlinkSync('far/target', at('link'));
    await watch('w', 'link');
    writeFileSync(at('far/target'), '1');
    await changes('w', ['link']);
    rmSync(at('link'));
    symlinkSync('far/other', at('link'));
    await changes('w', ['link']);
    writeFileSync(at('far/other'), '1');
    await changes('w', ['link']);
  });

  test('is announced once for fs/writeFile, without its temporary file', async () => {
    const { client, watch, changes, at } = await serverWith({ a: '0' });
    await watch('file', 'a');
    await watch('folder', '.');
    await client.request('fs/writeFile', { path: at('a'), dataBase64: 'eA==' });
    await changes('file', ['a']);
    await changes('folder', ['a']);
  });
});

describe('a watched folder', () => {
  test('announces its children, and itself when it is removed and created', async () => {
    const { watch, changes, at } = await serverWith({ 'd/a': '', 'd/e/deep': '' });
    await watch('w', 'd/');
    writeFileSync(at('d/new'), '');
    writeFileSync(at('d/e/deep'), 'is not told');
    writeFileSync(at('d/a'), '1');
    await changes('w', ['d/a', 'd/new']);
    rmSync(at('d'), { recursive: true });
    await changes('w', ['d', 'd/a', 'd/e', 'd/new']);
    mkdirSync(at('d'));
    await changes('w', ['d']);
    writeFileSync(at('d/back'), '');
    await changes('w', ['d/back']);
  });

  test('announces a burst of changes together', async () => {
    const { client, watch, changes, at } = await serverWith();
    await watch('w', '.');
    const names = Array.from({ length: 500 }, (_, index) => `f${index}`);
    for (const name of names) writeFileSync(at(name), '');
    await changes('w', names);
    expect(client.notifications('fs/changed').length).toBeLessThan(20);
  });
});

describe('a watch', () => {
  test('has an id that is unique in its connection; another connection may use it too', async () => {
    const { client, connect, watch, changes, at } = await serverWith({ a: '', b: '' });
    const other = await connect();
    await watch('w', 'a');
    const taken = {
      code: -32600,
      message: 'watchId already exists: w',
      data: { code: 'watch_id_taken' },
    };
    expect(await client.refusal('fs/watch', { watchId: 'w', path: at('b') })).toEqual(taken);
    await other.request('fs/watch', { watchId: 'w', path: at('b') });
    writeFileSync(at('b'), '1');
    await changes('w', ['b'], other);
    expect(client.notifications('fs/changed')).toEqual([]);
  });

  test('is silent after its end, and its id is free again', async () => {
    const { client, watch, changes, clock, at } = await serverWith({ a: '', b: '' });
    await watch('w', 'a');
    writeFileSync(at('a'), '1');
    await clock.timerOf(GATHER_MS);
    expect(await client.request('fs/unwatch', { watchId: 'w' })).toEqual({});
    expect(clock.timers).not.toContain(GATHER_MS);
    expect(await client.request('fs/unwatch', { watchId: 'never' })).toEqual({});
    await watch('w', 'b');
    writeFileSync(at('a'), '2');
    writeFileSync(at('b'), '1');
    await changes('w', ['b']);
  });

  test('ends with its connection', async () => {
    const { client, connect, clock, watch, changes, at } = await serverWith({ a: '', b: '' });
    const other = await connect();
    await other.request('fs/watch', { watchId: 'theirs', path: at('a') });
    await watch('ours', 'b');
    await other.close();
    writeFileSync(at('a'), '1');
    writeFileSync(at('b'), '1');
    await changes('ours', ['b']);
    expect(clock.timers).not.toContain(GATHER_MS);
    expect(client.notifications('fs/changed')).toHaveLength(1);
  });

  test('is refused beyond a thousand', async () => {
    const { client, at } = await serverWith({ a: '' });
    const ids = Array.from({ length: 1000 }, (_, index) => `w${index}`);
    await Promise.all(ids.map((watchId) => client.request('fs/watch', { watchId, path: at('a') })));
    const refused = { code: -32600, data: { code: 'too_many_watches', maxWatches: 1000 } };
    expect(await client.refusal('fs/watch', { watchId: 'more', path: at('a') })).toMatchObject(
      refused,
    );
    await client.request('fs/unwatch', { watchId: 'w0' });
    await client.request('fs/watch', { watchId: 'more', path: at('a') });
  });
});
