import type { Socket } from 'node:net';
import { readHost } from '../policy/network/read-host.ts';
import { ProxyRefusal } from './proxy-refusal.ts';

/** The first byte of a SOCKS5 connection (RFC 1928). */
export const SOCKS_VERSION = 5;
const NO_CREDENTIAL = 0;
const PASSWORD = 2;
const NO_METHOD = 0xff;
/** RFC 1929. */
const PASSWORD_VERSION = 1;
const CONNECT = 1;
const IPV4 = 1;
const NAME = 3;
const IPV6 = 4;
export const GRANTED = 0;
const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const CHANGES = ['readable', 'end', 'close'] as const;
const COMMAND_NOT_SUPPORTED = 7;
const ADDRESS_NOT_SUPPORTED = 8;

interface SocksOptions {
  /** Whether a credential is right. Null: none is needed. */
  isCredential: ((user: string, password: string) => boolean) | null;
  /** Sends the last bytes of the connection. */
  end(bytes: Buffer): void;
}

/**
 * Reads a SOCKS5 handshake after its first byte. Returns what the client wants to reach; the caller
 * replies to it with `socksReply`. Returns null if the connection has ended, or the handshake is
 * invalid and was answered. Throws a `ProxyRefusal` for an invalid host.
 */
export async function socksHandshake(
  socket: Socket,
  { isCredential, end }: SocksOptions,
): Promise<{ host: string; port: number } | null> {
  if (!(await greet(socket, { isCredential, end }))) return null;
  const [version, command, , type] = (await take(socket, 4)) ?? [];
  if (version !== SOCKS_VERSION) return null;
  if (command !== CONNECT) return refuse(end, COMMAND_NOT_SUPPORTED);
  const address = await takeAddress(socket, type ?? 0);
  if (address === 'unknown') return refuse(end, ADDRESS_NOT_SUPPORTED);
  const port = (await take(socket, 2))?.readUInt16BE();
  if (address === null || port === undefined) return null;
  const host = readHost(asUtf8(address) ?? '');
  if (host === null || port === 0)
    throw new ProxyRefusal('invalid', 'The request names no valid host and port.');
  return { host, port };
}

/** Returns the reply to a request: its code, and no address of the proxy's end. */
export function socksReply(code: number): Buffer {
  return Buffer.from([SOCKS_VERSION, code, 0, IPV4, 0, 0, 0, 0, 0, 0]);
}

/** Returns whether the client may go on. */
async function greet(socket: Socket, { isCredential, end }: SocksOptions): Promise<boolean> {
  const count = (await take(socket, 1))?.[0];
  const methods = count === undefined ? null : await take(socket, count);
  if (methods === null) return false;
  const method = isCredential === null ? NO_CREDENTIAL : PASSWORD;
  if (!methods.includes(method)) {
    end(Buffer.from([SOCKS_VERSION, NO_METHOD]));
    return false;
  }
  socket.write(Buffer.from([SOCKS_VERSION, method]));
  if (isCredential === null) return true;
  const version = (await take(socket, 1))?.[0];
  const user = await takeText(socket);
  const password = await takeText(socket);
  if (version !== PASSWORD_VERSION || user === null || password === null) return false;
  const isRight = isCredential(user, password);
  const answer = Buffer.from([PASSWORD_VERSION, isRight ? 0 : 1]);
  if (isRight) socket.write(answer);
  else end(answer);
  return isRight;
}

/**
 * Returns the address as text, `unknown` for a type that SOCKS5 does not have, and null if the
 * connection has ended.
 */
async function takeAddress(socket: Socket, type: number): Promise<string | 'unknown' | null> {
  if (type === NAME) return takeText(socket);
  if (type === IPV4) return (await take(socket, 4))?.join('.') ?? null;
  if (type !== IPV6) return 'unknown';
  return (await take(socket, 16))?.toString('hex').match(/.{4}/g)?.join(':') ?? null;
}

/**
 * Reads a text with its length before it. Every byte is one character, so that no byte is lost
 * before the text is checked.
 */
async function takeText(socket: Socket): Promise<string | null> {
  const length = (await take(socket, 1))?.[0];
  return length === undefined ? null : ((await take(socket, length))?.toString('latin1') ?? null);
}

/**
 * Returns the UTF-8 text whose bytes these characters are, or null. In another encoding, a name
 * would be another one than a user reads.
 */
function asUtf8(bytes: string): string | null {
  try {
    return UTF_8.decode(Buffer.from(bytes, 'latin1'));
  } catch {
    // Not UTF-8.
    return null;
  }
}

/** Reads exactly this many bytes, or returns null if the connection ends before. */
export async function take(socket: Socket, count: number): Promise<Buffer | null> {
  const parts: Buffer[] = [];
  for (let missing = count; ; ) {
    // Takes all there is: a listener for more bytes is called at once, and again and again, if some
    // are left.
    const bytes: unknown =
      missing === 0 ? null : socket.read(Math.min(missing, Math.max(1, socket.readableLength)));
    if (Buffer.isBuffer(bytes)) {
      parts.push(bytes);
      missing -= bytes.length;
    }
    if (missing === 0) return Buffer.concat(parts);
    if (socket.destroyed || socket.readableEnded) return null;
    await change(socket);
  }
}

/** Resolves when bytes may have come, or the connection has ended or failed. */
function change(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      for (const event of CHANGES) socket.off(event, done);
      resolve();
    };
    for (const event of CHANGES) socket.on(event, done);
  });
}

function refuse(end: SocksOptions['end'], code: number): null {
  end(socksReply(code));
  return null;
}
