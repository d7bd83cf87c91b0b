import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  bundleDefinitions,
  type Definitions,
  readMethodTable,
  type Schema,
} from '../../schema/bundle.ts';
import { alwaysEmptyMethods } from '../../src/handlers/always-empty.ts';
import { methods } from '../../src/protocol/generated/methods.ts';
import { idOf } from '../support/counting-ids.ts';
import { startServer } from '../support/test-server.ts';

const root = dirname(dirname(import.meta.dirname));
const definitions = bundleDefinitions(join(root, 'schema'));
const { clientRequests } = readMethodTable(join(root, 'schema'));

const REQUEST = 'src/handlers/thread-loading/thread-request.ts';
const SETTINGS = 'src/agent/settings/resolve-settings.ts';

/** The files that use the params of a method besides the file of its handler. */
const USED_IN: Record<string, string[]> = {
  'command/exec': [
    'src/handlers/client-processes/check-run-params.ts',
    'src/handlers/client-processes/client-process.ts',
  ],
  'process/spawn': [
    'src/handlers/client-processes/check-run-params.ts',
    'src/handlers/client-processes/client-process.ts',
  ],
  initialize: ['src/server/connection.ts'],
  'thread/fork': [REQUEST],
  'thread/resume': [REQUEST],
  'thread/start': [REQUEST, 'src/handlers/requested/with-environment.ts'],
  'thread/settings/update': [SETTINGS, 'src/handlers/requested/check-requested-sandbox.ts'],
  'turn/settings/update': [SETTINGS],
  'turn/start': [
    SETTINGS,
    'src/handlers/requested/with-environment.ts',
    'src/agent/turn/turn-starter.ts',
    'src/agent/turn/new-turn.ts',
    'src/agent/turn/turn-input.ts',
  ],
  'turn/steer': [
    SETTINGS,
    'src/agent/turn/turn-starter.ts',
    'src/agent/turn/turn-input.ts',
    'src/agent/threads/thread-turns.ts',
  ],
};

/** Refused whatever its params are, as test/handlers/feedback.test.ts checks. */
const ALWAYS_REFUSED = 'feedback/upload';

/**
 * Every field of the params of every served method, except of methods whose result is always empty
 * or that are always refused.
 */
const fields = Object.entries(clientRequests).flatMap(([method, { params, result }]) => {
  if (
    result === undefined ||
    !params ||
    Object.hasOwn(alwaysEmptyMethods(), method) ||
    method === ALWAYS_REFUSED
  )
    return [];
  return Object.entries(propertiesOf({ $ref: `#/definitions/${params.split('/').at(-1)}` })).map(
    ([name, schema]) => ({
      method,
      name,
      schema,
    }),
  );
});

/** A value of a field that counts as set. */
const SET: Record<string, unknown> = {
  'thread/start.selectedCapabilityRoots': [
    { id: 'a', location: { type: 'environment', environmentId: 'local', path: '/' } },
  ],
  'thread/start.projectId': 'project',
  'thread/fork.attachToSource': true,
  'mcpServer/resource/read.connectorId': 'c',
  'mcpServer/resource/read.target': { connectorId: 'c', linkId: null },
  'thread/fork.experimentalPredictionMode': true,
  'thread/settings/update.environments': [{ environmentId: 'local', cwd: '/' }],
  'turn/settings/update.environments': [{ environmentId: 'local', cwd: '/' }],
};

describe('each field of params', () => {
  test('is used, is refused, or says why it has no effect', () => {
    const ignored = fields.filter(
      ({ method, name, schema }) =>
        !schema['x-not-served'] &&
        !/^Has no effect: .{10,}\.$/.test(schema.description ?? '') &&
        !isUsed(method, name),
    );
    expect(ignored.map(({ method, name }) => `${method}.${name}`)).toEqual([]);
  });

  test('that has no effect is not used, and not refused', () => {
    const wrong = fields.filter(
      ({ method, name, schema }) =>
        schema.description?.startsWith('Has no effect') && isUsed(method, name),
    );
    expect(wrong.map(({ method, name }) => `${method}.${name}`)).toEqual([]);
  });

  test('that is refused is refused by its name if it is set, and only then', async () => {
    const refused = Object.values(methods).flatMap(({ notServedFields = [] }) =>
      notServedFields.map(({ name }) => name),
    );
    expect(refused.sort()).toEqual(Object.keys(SET).sort());
    const { client } = await startServer();
    await client.request('thread/start', {});
    for (const [field, value] of Object.entries(SET)) {
      const [method = '', name = ''] = field.split('.');
      const params = { threadId: idOf(1), turnId: idOf(2), input: [], server: 'x', uri: 'x' };
      const message = `${field} is not supported by this server`;
      expect(await client.refusal(method, { ...params, [name]: value })).toEqual({
        code: -32600,
        message,
        data: { code: 'not_supported' },
      });
      const empty = Array.isArray(value) ? [] : null;
      expect((await client.ask(method, { ...params, [name]: empty })).error?.data.code).not.toBe(
        'not_supported',
      );
    }
  });
});

test('the folders of an environment count like those beside it, and must be the same', async () => {
  const { client, cwd } = await startServer();
  const environments = [
    { environmentId: 'local', cwd: '/tmp', runtimeWorkspaceRoots: ['/tmp', cwd] },
  ];
  const started = await client.request('thread/start', { environments });
  expect([started.cwd, started.runtimeWorkspaceRoots]).toEqual(['/tmp', ['/tmp', cwd]]);
  expect(await client.refusal('thread/start', { environments, cwd })).toMatchObject({
    message: 'params.cwd and params.environments[0].cwd are different: give one of them',
  });
  const twice = [...environments, ...environments];
  expect(
    await client.refusal('turn/start', { threadId: idOf(1), input: [], environments: twice }),
  ).toMatchObject({
    data: { code: 'invalid_params' },
  });
});

function isUsed(method: string, name: string): boolean {
  const files = [fileOf(method), ...(USED_IN[method] ?? [])];
  return files.some((file) =>
    new RegExp(`\\b${name}\\b`).test(
      readFileSync(join(root, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, ''),
    ),
  );
}

/** The file of the longest prefix of a method's name that exists. */
function fileOf(method: string): string {
  const parts = method
    .split('/')
    .map((part) =>
      part.replace(/_/g, '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    );
  for (let length = parts.length; length > 0; length--) {
    const file = `src/handlers/${parts.slice(0, length).join('/')}.ts`;
    try {
      readFileSync(join(root, file));
      return file;
    } catch {}
  }
  throw new Error(`no file for ${method}`);
}

function propertiesOf(schema: Schema): Definitions {
  const resolved = schema.$ref
    ? (definitions[schema.$ref.replace('#/definitions/', '')] as Schema)
    : schema;
  const parts = [...(resolved.anyOf ?? []), ...(resolved.oneOf ?? []), ...(resolved.allOf ?? [])];
  return Object.assign({}, ...parts.map(propertiesOf), resolved.properties) as Definitions;
}
