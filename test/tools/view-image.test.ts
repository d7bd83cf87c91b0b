import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SandboxPolicy } from '../../src/protocol/generated/types.ts';
import { tempFolder, writeFiles } from '../config/temp-folder.ts';
import { idOf } from '../support/counting-ids.ts';
import { SMALL } from '../support/pictures.ts';
import { conversation, functionCall, message, response, TestModel } from '../support/test-model.ts';
import { startServer, type TestServer } from '../support/test-server.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==',
  'base64',
);
const URL = `data:image/png;base64,${PNG.toString('base64')}`;
const CONFIG =
  'model = "m"\nmodel_provider = "p"\n[model_providers.p]\nbase_url = "http://127.0.0.1:9"\n';

interface Setting {
  prepare?: (server: TestServer) => void;
  sandboxPolicy?: SandboxPolicy;
  env?: Record<string, string>;
}

/** The server, and the output of a call for the model. */
async function viewing(
  args: object,
  { prepare = () => {}, sandboxPolicy, env = {} }: Setting = {},
) {
  const server = await startServer({
    env,
    model: new TestModel(
      response(functionCall('view_image', args, { callId: 'c1' })),
      response(message('done')),
    ),
  });
  prepare(server);
  await server.client.request('thread/start', {});
  const { status } = await server.client.turn(
    idOf(1),
    'look',
    sandboxPolicy === undefined ? {} : { sandboxPolicy },
  );
  expect(status).toBe('completed');
  const [, , result] = conversation(server.model.request(2));
  return { server, output: (result as { output: unknown }).output };
}

const inputImage = (url: string) => [{ type: 'input_image', image_url: url, detail: 'high' }];

test('the model gets the image, and clients see its path', async () => {
  const { server, output } = await viewing(
    { path: 'p.png' },
    { prepare: ({ cwd }) => writeFiles(cwd, { 'p.png': PNG }) },
  );
  expect(output).toEqual(inputImage(URL));
  const item = { type: 'imageView', id: 'c1', path: join(server.cwd, 'p.png') };
  for (const method of ['item/started', 'item/completed'] as const)
    expect(
      server.client.notifications(method, (params) => params.item.type === 'imageView'),
    ).toMatchObject([{ item }]);
  const { data } = await server.client.request('thread/items/list', { threadId: idOf(1) });
  expect(JSON.stringify(data)).toContain('"imageView"');
});

test.each(Object.entries(SMALL))(
  '%s is known by how it begins, whatever its name',
  async (type, bytes) => {
    const { output } = await viewing(
      { path: 'name.txt' },
      { prepare: ({ cwd }) => writeFiles(cwd, { 'name.txt': bytes }) },
    );
    expect(output).toEqual(inputImage(`data:${type};base64,${bytes.toString('base64')}`));
  },
);

test.each([
  ['a file that is not there', { path: 'none.png' }, /none\.png: the file does not exist/],
  ['a text', { path: 'text.png' }, /text\.png: it is not a PNG/],
  ['an empty file', { path: 'empty.png' }, /empty\.png: it is not a PNG/],
  ['a folder', { path: '.' }, /is not a regular file/],
  ['a pipe', { path: 'pipe.png' }, /is not a regular file/],
  ['a device', { path: '/dev/zero' }, /is not a regular file/],
  [
    'a picture that is too large',
    { path: 'large.png' },
    /large\.png: it has 20971521 bytes, and the limit is 20971520/,
  ],
  ['a path with a NUL byte', { path: 'a\0b' }, /unable to show/],
  ['no path', {}, /`path` is missing/],
  ['a path that is none', { path: 5 }, /`path` must be a string/],
  ['an empty path', { path: '' }, /`path` must be a non-empty string/],
])('%s is told to the model, and the turn goes on', async (_, args, text) => {
  const { server, output } = await viewing(args, {
    prepare: ({ cwd }) => {
      writeFiles(cwd, { 'text.png': 'hello', 'empty.png': '', 'large.png': PNG });
      truncateSync(join(cwd, 'large.png'), 20 * 1024 * 1024 + 1);
      execFileSync('mkfifo', [join(cwd, 'pipe.png')]);
    },
  });
  expect(output).toEqual(expect.stringMatching(text));
  expect(
    server.client.notifications('item/started', ({ item }) => item.type === 'imageView'),
  ).toEqual([]);
});

describe('within the bounds of the sandbox', () => {
  const restricted = (readableRoots: string[] = []): SandboxPolicy => ({
    type: 'readOnly',
    access: { type: 'restricted', readableRoots, includePlatformDefaults: true },
  });
  const refused = expect.stringMatching(/may not be read/);
  const outside = ({ folder }: TestServer) => writeFiles(folder, { 'outside/p.png': PNG });

  test('images in the workspace are shown, others only if the sandbox allows them to be read', async () => {
    const inside = ({ cwd }: TestServer) => writeFiles(cwd, { 'p.png': PNG });
    expect(
      (await viewing({ path: 'p.png' }, { prepare: inside, sandboxPolicy: restricted() })).output,
    ).toEqual(inputImage(URL));
    expect(
      (
        await viewing(
          { path: '../outside/p.png' },
          { prepare: outside, sandboxPolicy: restricted() },
        )
      ).output,
    ).toEqual(refused);
    expect(
      (
        await viewing(
          { path: '../outside/p.png' },
          { prepare: outside, sandboxPolicy: { type: 'readOnly' } },
        )
      ).output,
    ).toEqual(inputImage(URL));
  });

  test('images in $TMPDIR are shown if commands can write there', async () => {
    const tmp = tempFolder();
    writeFiles(tmp, { 'p.png': PNG });
    const policy = (excludeTmpdirEnvVar: boolean): SandboxPolicy => ({
      type: 'workspaceWrite',
      readOnlyAccess: { type: 'restricted', includePlatformDefaults: false },
      excludeSlashTmp: true,
      excludeTmpdirEnvVar,
    });
    const look = (exclude: boolean) =>
      viewing(
        { path: join(tmp, 'p.png') },
        { env: { TMPDIR: tmp }, sandboxPolicy: policy(exclude) },
      );
    expect((await look(false)).output).toEqual(inputImage(URL));
    expect((await look(true)).output).toEqual(refused);
  });

  test('a link to an image outside is refused, also a link in its path', async () => {
    const prepare = (server: TestServer) => {
      outside(server);
      symlinkSync('../outside/p.png', join(server.cwd, 'link.png'));
      symlinkSync('../outside', join(server.cwd, 'way'));
    };
    for (const path of ['link.png', 'way/p.png'])
      expect((await viewing({ path }, { prepare, sandboxPolicy: restricted() })).output).toEqual(
        refused,
      );
  });

  test.each(['auth.json', 'config.toml.bak', 'heddle.db', 'heddle-writers/x'])(
    "the home's %s is not shown, whatever it holds",
    async (name) => {
      const prepare = ({ home }: TestServer) => {
        mkdirSync(join(home, 'heddle-writers'), { recursive: true });
        if (name !== 'heddle.db') writeFileSync(join(home, name), PNG);
      };
      const { output } = await viewing(
        { path: `../home/${name}` },
        { prepare, sandboxPolicy: { type: 'workspaceWrite' } },
      );
      // A file of the store is refused by whatever name.
      expect(output).toEqual(
        name.startsWith('heddle')
          ? expect.stringMatching(/ belongs to heddle's own store, /)
          : refused,
      );
    },
  );
});

test.each(['tools.view_image', 'features.view_image_tool'])(
  '%s = false takes the tool away',
  async (key) => {
    const server = await startServer({
      config: `${key} = false\n${CONFIG}`,
      model: new TestModel(response(message('done'))),
    });
    await server.client.request('thread/start', {});
    await server.client.turn(idOf(1), 'hi');
    expect(server.model.request(1).tools.map(({ name }) => name)).not.toContain('view_image');
  },
);
