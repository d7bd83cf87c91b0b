import { type Definitions, definitionName, type Schema } from '../../../schema/bundle.ts';
import { messageUnions } from './message-unions.ts';
import { openRpc } from './open-rpc.ts';
import { type ProtocolSchemas, reachable, readProtocolSchemas } from './protocol-schemas.ts';
import { writeFiles } from './write-files.ts';

export interface GenerateOptions {
  /** The folder of the protocol's schema files. */
  schemaDir: string;
  /** The folder to write to. Created if it does not exist. */
  outDir: string;
  /** Whether to include the experimental API. */
  experimental: boolean;
}

const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';
/** The file with all definitions, under the name that client generators look for. */
const BUNDLE = 'codex_app_server_protocol.v2.schemas.json';
const MESSAGES = [
  'JSONRPCMessage',
  'JSONRPCRequest',
  'JSONRPCNotification',
  'JSONRPCResponse',
  'JSONRPCError',
  'JSONRPCErrorError',
];

/**
 * Writes the protocol as JSON Schema (draft-07): a self-contained file for each message, params,
 * result and notification, a bundle of them all, and `openrpc.json`. Throws if a file cannot be
 * written.
 */
export function generateJsonSchema({ schemaDir, outDir, experimental }: GenerateOptions): void {
  const protocol = readProtocolSchemas(schemaDir, experimental);
  const unions = messageUnions(protocol);
  const definitions = { ...protocol.definitions, ...unions };
  const places = filePlaces(protocol, Object.keys(unions));
  const files = new Map<string, string>();
  for (const [name, folder] of places)
    files.set(`${folder}${name}.json`, json(standalone(definitions, name)));
  files.set(
    BUNDLE,
    json({
      $schema: DRAFT_07,
      title: 'AppServerProtocol',
      definitions: reachable(definitions, [...places.keys()]),
    }),
  );
  files.set('openrpc.json', json(openRpc(protocol)));
  writeFiles(outDir, files);
}

/**
 * The types that have files of their own, with their folders: the layout of other servers of the
 * protocol.
 */
function filePlaces({ methods }: ProtocolSchemas, unions: string[]): Map<string, string> {
  const { initialize, ...requests } = methods.clientRequests;
  const places = new Map<string, string>();
  const put = (folder: string, references: (string | null | undefined)[]): void => {
    for (const reference of references)
      if (reference) places.set(definitionName(reference), folder);
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
  put(
    'v2/',
    Object.values(methods.serverNotifications).map(({ params }) => params),
  );
  return places;
}

/** A definition as a document, with the definitions that it refers to. */
function standalone(
  definitions: Definitions,
  name: string,
): Schema & { $schema: string; title: string } {
  const { [name]: _itself, ...others } = reachable(definitions, [name]);
  const document = { $schema: DRAFT_07, title: name, ...definitions[name] };
  return Object.keys(others).length > 0 ? { ...document, definitions: others } : document;
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
