import {
  type Definitions,
  definitionName,
  mapDefinitions,
  mapSchema,
  type Schema,
} from '../../../schema/bundle.ts';
import { PROTOCOL_VERSION } from '../../protocol/protocol-version.ts';
import { type ProtocolSchemas, reachable } from './protocol-schemas.ts';

/** The parts of an OpenRPC 1.3 document that are used here. */
export interface OpenRpc {
  openrpc: string;
  info: { title: string; version: string; description: string };
  methods: OpenRpcMethod[];
  components: { schemas: Definitions };
  /** Requests from the server to its client. OpenRPC has no place for these. */
  'x-serverRequests': OpenRpcMethod[];
  /** Notifications from the server to its client. */
  'x-serverNotifications': OpenRpcMethod[];
}

export interface OpenRpcMethod {
  name: string;
  description: string;
  paramStructure: 'by-name';
  params: ContentDescriptor[];
  /** Missing for notifications. */
  result?: ContentDescriptor;
  /** The schema of the params as a whole. */
  'x-params'?: Schema;
  'x-experimental'?: true;
}

interface ContentDescriptor {
  name: string;
  description?: string;
  required: boolean;
  schema: Schema;
}

const DESCRIPTION = `One JSON object per line, without the member \`jsonrpc\`. \`methods\` are the methods that a client may send; \
\`x-serverRequests\` and \`x-serverNotifications\` are those that the server sends, in the same form. \`x-params\` is the \
schema of a method's params as a whole, and \`x-experimental\` says that the method needs the experimental API.`;

/** The protocol as an OpenRPC document. */
export function openRpc({ definitions, methods }: ProtocolSchemas): OpenRpc {
  const { clientRequests, clientNotifications, serverRequests, serverNotifications } = methods;
  const sent = [...Object.values(clientRequests), ...Object.values(serverRequests)].flatMap(
    ({ params, result }) => [params, result],
  );
  const named = [
    ...sent,
    ...Object.values(serverNotifications).map(({ params }) => params),
  ].flatMap((reference) => (reference ? definitionName(reference) : []));
  const method = (name: string, row: MethodRow): OpenRpcMethod =>
    describeMethod(definitions, name, row);
  return {
    openrpc: '1.3.2',
    info: { title: 'heddle app-server', version: PROTOCOL_VERSION, description: DESCRIPTION },
    methods: [
      ...Object.entries(clientRequests).map(([name, row]) => ({
        ...method(name, row),
        ...(row.stability === 'experimental' && { 'x-experimental': true as const }),
      })),
      ...Object.entries(clientNotifications).map(([name, row]) => method(name, row)),
    ],
    components: { schemas: mapDefinitions(reachable(definitions, named), inComponents) },
    'x-serverRequests': Object.entries(serverRequests).map(([name, row]) => method(name, row)),
    'x-serverNotifications': Object.entries(serverNotifications).map(([name, row]) =>
      method(name, row),
    ),
  };
}

interface MethodRow {
  description: string;
  params?: string | null;
  result?: string;
}

function describeMethod(
  definitions: Definitions,
  name: string,
  { description, params = null, result }: MethodRow,
): OpenRpcMethod {
  const schema = params === null ? {} : (definitions[definitionName(params)] ?? {});
  return {
    name,
    description:
      schema.description === undefined ? description : `${description} ${schema.description}`,
    paramStructure: 'by-name',
    params: contentDescriptors(schema),
    ...(result !== undefined && {
      result: {
        name: definitionName(result),
        required: true,
        schema: inComponents({ $ref: result }),
      },
    }),
    ...(params !== null && { 'x-params': inComponents({ $ref: params }) }),
  };
}

/** A descriptor for each field of an object. OpenRPC wants the required ones first. */
function contentDescriptors({ properties = {}, required = [] }: Schema): ContentDescriptor[] {
  const fields = Object.entries(properties).map(([name, property]) => ({
    name,
    ...(property.description !== undefined && { description: property.description }),
    required: required.includes(name),
    schema: mapSchema(property, inComponents),
  }));
  return [
    ...fields.filter((field) => field.required),
    ...fields.filter((field) => !field.required),
  ];
}

function inComponents(node: Schema): Schema {
  return node.$ref ? { ...node, $ref: `#/components/schemas/${definitionName(node.$ref)}` } : node;
}
