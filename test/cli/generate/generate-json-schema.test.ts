// @module-tag slow
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Ajv, type AnySchemaObject } from 'ajv';
import { describe, expect, test } from 'vitest';
import { definitionName, readMethodTable } from '../../../schema/bundle.ts';
import { generateJsonSchema } from '../../../src/cli/generate/generate-json-schema.ts';
import { tempFolder } from '../../config/temp-folder.ts';
import { text } from '../../support/test-client.ts';
import { message, response, TestModel } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';

const schemaDir = join(dirname(dirname(dirname(import.meta.dirname))), 'schema');
const methods = readMethodTable(schemaDir);
const BUNDLE = 'codex_app_server_protocol.v2.schemas.json';
const NUMBER_FORMATS = ['int32', 'int64', 'uint', 'uint16', 'uint32', 'uint64'];

function generated({ experimental = false } = {}): string {
  const outDir = tempFolder();
  generateJsonSchema({ schemaDir, outDir, experimental });
  return outDir;
}

function schemaFiles(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return paths.filter((path) => path.endsWith('.json') && path !== 'openrpc.json').sort();
}

function schemaIn(folder: string, path: string): AnySchemaObject {
  return JSON.parse(readFileSync(join(folder, path), 'utf8')) as AnySchemaObject;
}

/** Refuses everything that is not JSON Schema, such as this project's own keywords. */
function strictAjv(): Ajv {
  // Compiles fast, since the validators are hardly run.
  return new Ajv({
    strictTypes: false,
    inlineRefs: false,
    code: { optimize: false },
    formats: Object.fromEntries(NUMBER_FORMATS.map((format) => [format, true])),
  });
}

/** The names that `method` may have in a union of messages. */
function methodsIn(folder: string, file: string): string[] {
  const { oneOf } = schemaIn(folder, file) as {
    oneOf: { properties: { method: { enum: string[] } } }[];
  };
  return oneOf.flatMap(({ properties }) => properties.method.enum).sort();
}

function served(stabilities: string[]): string[] {
  const rows = Object.entries(methods.clientRequests);
  return rows
    .filter(([, { result, stability }]) => result !== undefined && stabilities.includes(stability))
    .map(([method]) => method);
}

describe('generate-json-schema', () => {
  test('writes the params and results of every stable served method where clients look for them', () => {
    const files = schemaFiles(generated());
    const references = served(['stable']).flatMap((method) => {
      const { params, result } = methods.clientRequests[method] ?? {};
      return [params, result].flatMap((reference) =>
        reference
          ? `${method === 'initialize' ? 'v1' : 'v2'}/${definitionName(reference)}.json`
          : [],
      );
    });
    const notifications = Object.values(methods.serverNotifications).map(
      ({ params }) => `v2/${definitionName(params)}.json`,
    );
    const asked = Object.values(methods.serverRequests).flatMap(({ params, result }) =>
      [params, result].map((name) => `${definitionName(name)}.json`),
    );
    const messages = [
      'ClientRequest',
      'ClientNotification',
      'ServerRequest',
      'ServerNotification',
      'RequestId',
    ];
    const frames = ['Message', 'Request', 'Notification', 'Response', 'Error', 'ErrorError'].map(
      (name) => `JSONRPC${name}`,
    );
    const top = [...messages, ...frames].map((name) => `${name}.json`);
    expect(files).toEqual(
      [...new Set([...references, ...notifications, ...asked, ...top, BUNDLE])].sort(),
    );
  });

  test('each schema is self-contained', { timeout: 60_000 }, () => {
    const folder = generated({ experimental: true });
    const broken = schemaFiles(folder).flatMap((path) => {
      try {
        strictAjv().compile(schemaIn(folder, path));
        return [];
      } catch (error) {
        return [`${path}: ${String(error)}`];
      }
    });
    expect(broken).toEqual([]);
  });

  test('each definition of the bundle can be compiled', () => {
    const folder = generated({ experimental: true });
    const ajv = strictAjv();
    ajv.addSchema(schemaIn(folder, BUNDLE), 'bundle');
    const names = Object.keys(schemaIn(folder, BUNDLE).definitions as object);
    expect(names).toEqual(
      expect.arrayContaining([
        'Thread',
        'ThreadItem',
        'ClientRequest',
        'ServerNotification',
        'InitializeParams',
      ]),
    );
    for (const name of names)
      expect(ajv.getSchema(`bundle#/definitions/${name}`)).toBeTypeOf('function');
  });

  test('it has only served methods, and experimental ones if asked', () => {
    const plain = generated();
    const whole = generated({ experimental: true });
    expect(methodsIn(plain, 'ClientRequest.json')).toEqual(served(['stable']).sort());
    expect(methodsIn(whole, 'ClientRequest.json')).toEqual(
      served(['stable', 'experimental']).sort(),
    );
    expect(methodsIn(plain, 'ServerNotification.json')).toEqual(
      Object.keys(methods.serverNotifications).sort(),
    );
    expect(methodsIn(plain, 'ServerRequest.json')).toEqual(
      Object.keys(methods.serverRequests).sort(),
    );
    expect(methodsIn(plain, 'ClientNotification.json')).toEqual(['initialized']);
  });

  test('it has experimental fields if asked, and says that they are', () => {
    const file = 'v2/TurnStartParams.json';
    expect(Object.keys(schemaIn(generated(), file).properties as object)).not.toContain(
      'collaborationMode',
    );
    const { properties } = schemaIn(generated({ experimental: true }), file) as {
      properties: Record<string, { description?: string }>;
    };
    expect(properties.collaborationMode?.description).toMatch(/^Needs the experimental API\./);
    expect(properties.model?.description ?? '').not.toContain('experimental');
  });

  test('messages of a real server are valid, and wrong messages are not', async () => {
    const folder = generated({ experimental: true });
    const ajv = strictAjv();
    const [answer, notification, request] = [
      'v2/ThreadStartResponse',
      'ServerNotification',
      'ClientRequest',
    ].map((name) => ajv.compile(schemaIn(folder, `${name}.json`)));
    const { client } = await startServer({ model: new TestModel(response(message('hello'))) });
    const started = await client.request('thread/start', {});
    await client.turn(started.thread.id, 'hi');
    expect(answer?.(started)).toBe(true);
    expect(answer?.({ ...started, thread: { ...started.thread, id: 5 } })).toBe(false);
    const notifications = client.messages.filter(
      ({ method, id }) => method !== undefined && id === undefined,
    );
    expect(notifications.length).toBeGreaterThan(5);
    expect(notifications.filter((sent) => notification?.(sent) !== true)).toEqual([]);
    expect(notification?.({ method: 'turn/started', params: {} })).toBe(false);
    expect(
      request?.({
        id: 1,
        method: 'turn/start',
        params: { threadId: 'x', input: text('hi'), model: null },
      }),
    ).toBe(true);
    expect(request?.({ id: 1, method: 'turn/start', params: { threadId: 'x' } })).toBe(false);
    const none = { id: 1, method: 'configRequirements/read' };
    expect(
      [none, { ...none, params: null }, { ...none, params: {} }, { ...none, params: [] }].map(
        (sent) => request?.(sent),
      ),
    ).toEqual([...[true, true, true], false]);
    for (const [count, fits] of [
      [0, false],
      [1, true],
      [100, true],
      [101, false],
    ] as const) {
      const params = {
        threadId: 'x',
        turnId: 'y',
        itemIds: Array.from({ length: count }, () => 'z'),
      };
      expect(request?.({ id: 1, method: 'thread/items/read', params })).toBe(fits);
    }
    expect(request?.({ id: 1, method: 'no/such/method', params: {} })).toBe(false);
  });
});
