import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { Clock } from '../base/clock.ts';
import { type BearerRules, bearerProblem } from './bearer-problem.ts';
import { localPeerProblem } from './local-peer-problem.ts';
import type { LocalConnection } from './peer-socket.ts';

/** The answer to a request that may not connect. */
export interface Refusal {
  status: 400 | 401 | 403 | 503;
  text: string;
}

/** The rules for who may connect to a port. */
export interface AdmissionRules {
  /**
   * Reads what a client's token must be. It throws a ListenError if a file cannot be read. Null:
   * every process of this user may connect, but none of a command.
   */
  bearer: (() => BearerRules) | null;
  /** The origins of pages that may connect. */
  origins: readonly string[];
  /** The names of this machine that requests may be made to, beside its addresses. */
  hosts: readonly string[];
}

/** A request has each of these headers at most once: another program could read the other one. */
const SINGLE = ['authorization', 'host', 'origin'];

/**
 * Why a request to a port is refused before anybody asks who makes it; null: it is not. Pages of
 * other origins may not even learn that a server is there.
 */
export function requestRefusal(
  { headers, rawHeaders }: Pick<IncomingMessage, 'headers' | 'rawHeaders'>,
  { origins, hosts }: AdmissionRules,
): Refusal | null {
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  if (SINGLE.some((name) => names.indexOf(name) !== names.lastIndexOf(name)))
    return { status: 400, text: 'a header is there twice' };
  const { origin, host } = headers;
  if (origin !== undefined && !origins.includes(origin))
    return { status: 403, text: 'the origin is not allowed (--ws-allow-origin)' };
  if (host !== undefined && !isOwnHost(host, hosts))
    return { status: 403, text: 'the host is not allowed (--ws-allow-host)' };
  return null;
}

/**
 * Why the client at the other end may not connect to a port; null: it may. Rejects with the
 * system's error if that cannot be looked up.
 */
export async function clientRefusal(
  { headers, socket }: Pick<IncomingMessage, 'headers'> & { socket: Socket },
  { bearer }: AdmissionRules,
  clock: Clock,
): Promise<Refusal | null> {
  if (bearer !== null) {
    const text = await bearerProblem(headers.authorization, bearer(), clock.now());
    return text === null ? null : { status: 401, text };
  }
  if (FORWARDED.some((name) => headers[name] !== undefined))
    return { status: 403, text: `a proxy passes the request on: use a token (--ws-auth)` };
  const connection = connectionOf(socket);
  const problem =
    connection === null ? 'the connection is closed' : await localPeerProblem(connection);
  return problem === null ? null : { status: 403, text: `${problem}: use a token (--ws-auth)` };
}

/** By these, a proxy tells for whom it asks. It may be anybody. */
const FORWARDED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];

/** Null: it is closed. */
function connectionOf(socket: Socket): LocalConnection | null {
  const { remoteAddress, remotePort, localAddress, localPort } = socket;
  // Node keeps the descriptor to itself. Where it is not there, nobody can be identified.
  const { fd = -1 } = (socket as { _handle?: { fd?: number } | null })._handle ?? {};
  if (
    remoteAddress === undefined ||
    remotePort === undefined ||
    localAddress === undefined ||
    localPort === undefined
  )
    return null;
  return {
    peer: { address: remoteAddress, port: remotePort },
    own: { address: localAddress, port: localPort },
    descriptor: fd,
  };
}

/**
 * Whether a name leads to this machine whoever resolves it. The name of a page's own server could
 * be made to lead here too.
 */
function isOwnHost(host: string, hosts: readonly string[]): boolean {
  const name = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(host)?.[1]?.toLowerCase();
  if (name === undefined) return false;
  const address = name.startsWith('[') ? name.slice(1, -1) : name;
  return isIP(address) !== 0 || name === 'localhost' || hosts.includes(name);
}
