import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readMethodTable } from '../../../schema/bundle.ts';
import { type OpenRpcMethod, openRpc } from '../../../src/cli/generate/open-rpc.ts';
import { readProtocolSchemas } from '../../../src/cli/generate/protocol-schemas.ts';
import { PROTOCOL_VERSION } from '../../../src/protocol/protocol-version.ts';

const schemaDir = join(dirname(dirname(dirname(import.meta.dirname))), 'schema');
const document = openRpc(readProtocolSchemas(schemaDir, true));
const all = [
  ...document.methods,
  ...document['x-serverRequests'],
  ...document['x-serverNotifications'],
];

/** The members that OpenRPC 1.3 lets an object have, besides those that begin with `x-`. */
const MEMBERS = {
  document: ['openrpc', 'info', 'externalDocs', 'servers', 'methods', 'components', '$schema'],
  info: ['title', 'description', 'termsOfService', 'version', 'contact', 'license'],
  method: [
    ...[
      'name',
      'description',
      'summary',
      'servers',
      'tags',
      'paramStructure',
      'params',
      'result',
      'errors',
      'links',
    ],
    ...['examples', 'deprecated', 'externalDocs'],
  ],
  contentDescriptor: ['name', 'description', 'summary', 'schema', 'required', 'deprecated'],
  components: [
    'schemas',
    'links',
    'errors',
    'examples',
    'examplePairings',
    'contentDescriptors',
    'tags',
  ],
};

function foreignMembers(object: object, kind: keyof typeof MEMBERS): string[] {
  return Object.keys(object).filter((key) => !MEMBERS[kind].includes(key) && !key.startsWith('x-'));
}

function methodNamed(name: string): OpenRpcMethod | undefined {
  return all.find((method) => method.name === name);
}

describe('the OpenRPC document', () => {
  test('has the form of OpenRPC 1.3', () => {
    expect(document.openrpc).toMatch(/^1\.3\.\d+$/);
    expect(document.info).toEqual({
      title: 'heddle app-server',
      version: PROTOCOL_VERSION,
      description: expect.any(String),
    });
    expect(foreignMembers(document, 'document')).toEqual([]);
    expect(foreignMembers(document.info, 'info')).toEqual([]);
    expect(foreignMembers(document.components, 'components')).toEqual([]);
    expect(all.flatMap((method) => foreignMembers(method, 'method'))).toEqual([]);
    const descriptors = all.flatMap(({ params, result }) => [
      ...params,
      ...(result ? [result] : []),
    ]);
    expect(
      descriptors.flatMap((descriptor) => foreignMembers(descriptor, 'contentDescriptor')),
    ).toEqual([]);
    expect(
      descriptors.filter(({ name, schema }) => name === '' || typeof schema !== 'object'),
    ).toEqual([]);
  });

  test('names no method twice, and no param of a method', () => {
    const names = all.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
    for (const { params } of all)
      expect(params.map(({ name }) => name)).toEqual([...new Set(params.map(({ name }) => name))]);
  });

  test('has required params before the others', () => {
    const wrong = all.filter(({ params }) =>
      params.some(({ required }, index) => required && params[index - 1]?.required === false),
    );
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  test('has all definitions that it refers to', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(
      ([, reference]) => reference ?? '',
    );
    const known = Object.keys(document.components.schemas).map(
      (name) => `#/components/schemas/${name}`,
    );
    expect(references.length).toBeGreaterThan(100);
    expect(references.filter((reference) => !known.includes(reference))).toEqual([]);
  });

  test('has every served method, a result for each request, and the messages that the server sends', () => {
    const { clientRequests, clientNotifications, serverRequests, serverNotifications } =
      readMethodTable(schemaDir);
    const served = Object.keys(clientRequests).filter(
      (method) => clientRequests[method]?.result !== undefined,
    );
    expect(document.methods.map(({ name }) => name)).toEqual([
      ...served,
      ...Object.keys(clientNotifications),
    ]);
    expect(document['x-serverRequests'].map(({ name }) => name)).toEqual(
      Object.keys(serverRequests),
    );
    expect(document['x-serverNotifications'].map(({ name }) => name)).toEqual(
      Object.keys(serverNotifications),
    );
    const requests = [...served, ...Object.keys(serverRequests)];
    expect(all.filter(({ result }) => result !== undefined).map(({ name }) => name)).toEqual(
      requests,
    );
  });

  test('describes the params of a method one by one and as a whole', () => {
    const description =
      'At most 1,000 characters, without surrounding whitespace, which is removed.';
    expect(methodNamed('thread/name/set')).toEqual({
      name: 'thread/name/set',
      description: 'Gives a thread a name.',
      paramStructure: 'by-name',
      params: [
        { name: 'threadId', required: true, schema: { type: 'string' } },
        { name: 'name', description, required: true, schema: { type: 'string', description } },
      ],
      result: {
        name: 'ThreadSetNameResponse',
        required: true,
        schema: { $ref: '#/components/schemas/ThreadSetNameResponse' },
      },
      'x-params': { $ref: '#/components/schemas/ThreadSetNameParams' },
    });
    expect(methodNamed('initialized')).toEqual({
      name: 'initialized',
      description: 'Ends the handshake. The server does not wait for it.',
      paramStructure: 'by-name',
      params: [],
    });
    expect(methodNamed('server/diagnostics')).toMatchObject({ 'x-experimental': true });
  });

  test('leaves out experimental parts by default', () => {
    const plain = openRpc(readProtocolSchemas(schemaDir, false));
    expect(
      plain.methods.filter(
        (method) => 'x-experimental' in method || method.name === 'server/diagnostics',
      ),
    ).toEqual([]);
    expect(Object.keys(plain.components.schemas)).not.toContain('ServerDiagnosticsResponse');
  });
});
