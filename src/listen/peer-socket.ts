import { type ProcPath, readProcLater, readProcLink } from '../base/files/read-proc.ts';
import { SharedRuns } from '../base/loading/shared-runs.ts';
import { unlessUnseen } from '../base/paths/stat-of.ts';

/** The two ends of a connection of this machine, as the server sees them. */
export interface LocalConnection {
  peer: { address: string; port: number };
  own: { address: string; port: number };
  /** The file descriptor of the server's end. */
  descriptor: number;
}

/** A socket, with the user that has made it. */
interface PeerSocket {
  uid: number;
  inode: string;
}

/** The state of an established connection in /proc/net/tcp. */
const ESTABLISHED = '01';

/**
 * To read a table takes some milliseconds, since the system goes through all sockets that there
 * could be.
 */
const TABLES = (
  [
    ['/proc/self/net/tcp', 4],
    ['/proc/self/net/tcp6', 16],
  ] as const satisfies readonly (readonly [ProcPath, 4 | 16])[]
).map(([file, bytes]) => ({ bytes, texts: new SharedRuns(() => readProcLater(file)) }));

/**
 * The socket at the other end. Null: the system shows none, or the connection does not stand any
 * more.
 */
export async function peerSocket({
  peer,
  own,
  descriptor,
}: LocalConnection): Promise<PeerSocket | null> {
  const link = unlessUnseen(() => readProcLink(`/proc/self/fd/${descriptor}`)) ?? '';
  const end = /^socket:\[(\d+)\]$/.exec(link)?.[1];
  const sockets: PeerSocket[] = [];
  for (const { bytes, texts } of TABLES) {
    const [from, to] = [hexAddress(peer, bytes), hexAddress(own, bytes)];
    if (from === null || to === null || sockets.length === 2) continue;
    const text = (await texts.get()) ?? '';
    sockets.push(...established(text, `${from} ${to}`), ...established(text, `${to} ${from}`));
  }
  // Another connection could have got the same addresses after this one has ended.
  if (end === undefined || !sockets.some(({ inode }) => inode === end)) return null;
  return sockets.find(({ inode }) => inode !== end) ?? null;
}

/** The established socket of a table with these addresses, or none. */
function established(table: string, ends: string): PeerSocket[] {
  const at = table.indexOf(` ${ends} ${ESTABLISHED} `);
  if (at === -1) return [];
  const line = table.slice(at, table.indexOf('\n', at));
  const [, , , , uid, , inode] = line.slice(ends.length + 2).split(/\s+/);
  return inode === undefined ? [] : [{ uid: Number(uid), inode }];
}

/**
 * An address as in /proc/net/tcp: the words of the address in the byte order of the machine. Null:
 * it has no such form.
 */
function hexAddress({ address, port }: LocalConnection['peer'], bytes: 4 | 16): string | null {
  const mapped = /^(?:::ffff:)?(\d+)\.(\d+)\.(\d+)\.(\d+)$/i.exec(address);
  const octets = mapped?.slice(1).map(Number);
  const words =
    octets === undefined
      ? address === '::1' && bytes === 16
        ? ['00000000', '00000000', '00000000', word([0, 0, 0, 1])]
        : null
      : bytes === 4
        ? [word(octets)]
        : ['00000000', '00000000', word([0, 0, 0xff, 0xff]), word(octets)];
  return words === null ? null : `${words.join('')}:${hex(port, 4)}`;
}

function word(octets: readonly number[]): string {
  const value = new Uint32Array(Uint8Array.from(octets).buffer)[0] ?? 0;
  return hex(value, 8);
}

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, '0');
}
