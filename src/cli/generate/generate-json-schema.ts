import { type Definitions, definitionName, type Schema } from '../../../schema/bundle.ts';
import { messageUnions } from './message-unions.ts';
import { openRpc } from './open-rpc.ts';
import { type ProtocolSchemas, reachable, readProtocolSchemas } from './protocol-schemas.ts';
import { writeFiles } from './write-files.ts';

export interface GenerateOptions {
  /** The folder of the protocol's schema files. */
  schemaDir: string;
  /** Where to write, made where there is none. */
  outDir: string;
  /** With what needs the experimental API. */
  experimental: boolean;
}

const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';
/** All definitions in one file, under the name that generators of clients look for. */
const BUNDLE = 'codex_app_server_protocol.v2.schemas.json';
const MESSAGES = ['JSONRPCMessage', 'JSONRPCRequest', 'JSONRPCNotification', 'JSONRPCResponse', 'JSONRPCError', 'JSONRPCErrorError'];

/**
 * Writes the protocol as JSON Schema (draft-07), a file for each message, params, result and notification, which holds
 * all that it refers to; all of them in one bundle; and `openrpc.json`. Throws where it cannot be written.
 */
export function generateJsonSchema({ schemaDir, outDir, experimental }: GenerateOptions): void {
  const protocol = readProtocolSchemas(schemaDir, experimental);
  const unions = messageUnions(protocol);
  const definitions = { ...protocol.definitions, ...unions };
  const places = filePlaces(protocol, Object.keys(unions));
  const files = new Map<string, string>();
  for (const [name, folder] of places) files.set(`${folder}${name}.json`, json(standalone(definitions, name)));
  files.set(BUNDLE, json({ $schema: DRAFT_07, title: 'AppServerProtocol', definitions: reachable(definitions, [...places.keys()]) }));
  files.set('openrpc.json', json(openRpc(protocol)));
  writeFiles(outDir, files);
}

/** Each type that has a file of its own, with its folder: as other servers of the protocol lay them out. */
function filePlaces({ methods }: ProtocolSchemas, unions: string[]): Map<string, string> {
  const { initialize, ...requests } = methods.clientRequests;
  const places = new Map<string, string>();
  const put = (folder: string, references: (string | null | undefined)[]): void => {
    for (const reference of references) if (reference) places.set(definitionName(reference), folder);
  };
  put('', [...MESSAGES, 'RequestId', ...unions]);
  put(
    '',
    Object.values(methods.serverRequests).flatMap(({ params, result }) => [params, result]),
  );
  put('v1/', [initialize?.params, initialize?.result]);
  put(
    'v2/',
    Object.values(requests).flatMap(({ params, result }) => [params, result]),
  );
  put('v2/', Object.values(methods.serverNotifications));
  return places;
}

/** One definition as a document of its own, with the others that it refers to. */
function standalone(definitions: Definitions, name: string): Schema & { $schema: string; title: string } {
  const { [name]: _itself, ...others } = reachable(definitions, [name]);
  const document = { $schema: DRAFT_07, title: name, ...definitions[name] };
  return Object.keys(others).length > 0 ? { ...document, definitions: others } : document;
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
