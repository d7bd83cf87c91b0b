import { type Definitions, definitionName, type Schema } from '../../../schema/bundle.ts';
import type { ProtocolSchemas } from './protocol-schemas.ts';

/** The messages that each side may send: a union of its requests and one of its notifications. */
export function messageUnions({ methods }: ProtocolSchemas): Definitions {
  const { clientRequests, clientNotifications, serverRequests, serverNotifications } = methods;
  return {
    ClientRequest: union('A request of the client.', clientRequests, (method, { params }) =>
      request(method, params ?? null),
    ),
    ClientNotification: union('A notification of the client.', clientNotifications, (method) =>
      message({ method: name(method) }),
    ),
    ServerRequest: union(
      'A request of the server, which the client answers.',
      serverRequests,
      (method, { params }) => request(method, params),
    ),
    ServerNotification: union(
      'A notification of the server.',
      serverNotifications,
      (method, { params }) => message({ method: name(method), params: reference(params) }),
    ),
  };
}

/** Params and results by method, for authors of typed clients. */
export function methodMaps({ methods }: ProtocolSchemas): Definitions {
  const { clientRequests, serverRequests, serverNotifications } = methods;
  return {
    ClientRequests: map(
      'The requests that the server serves.',
      clientRequests,
      ({ params, result }) => exchange(params ?? null, result),
    ),
    ServerRequests: map(
      'The requests that the server sends.',
      serverRequests,
      ({ params, result }) => exchange(params, result),
    ),
    ServerNotifications: map(
      'The notifications that the server sends, by their params.',
      serverNotifications,
      ({ params }) => reference(params),
    ),
  };
}

function union<Row>(
  description: string,
  rows: Record<string, Row>,
  variant: (method: string, row: Row) => Schema,
): Schema {
  return { description, oneOf: Object.entries(rows).map(([method, row]) => variant(method, row)) };
}

function map<Row extends { description: string }>(
  description: string,
  rows: Record<string, Row>,
  member: (row: Row) => Schema,
): Schema {
  const members = Object.entries(rows).map(([method, row]) => [
    method,
    { ...member(row), description: row.description },
  ]);
  return { description, ...message(Object.fromEntries(members)) };
}

function request(method: string, params: string | null): Schema {
  return withParams({ id: { $ref: '#/definitions/RequestId' }, method: name(method) }, params);
}

function exchange(params: string | null, result: string | undefined): Schema {
  return withParams({ result: reference(result ?? '') }, params);
}

/** If a method takes no params, they may be an object, null or missing. */
function withParams(members: Definitions, params: string | null): Schema {
  if (params !== null) return message({ ...members, params: reference(params) });
  const required = message(members);
  return {
    ...required,
    properties: { ...required.properties, params: { type: ['object', 'null'] } },
  };
}

/** An object whose members are all required. */
function message(properties: Definitions): Schema {
  return { type: 'object', required: Object.keys(properties), properties };
}

function name(method: string): Schema {
  return { type: 'string', enum: [method] };
}

function reference(target: string): Schema {
  return { $ref: `#/definitions/${definitionName(target)}` };
}
