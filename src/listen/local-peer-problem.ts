import {
  namesInProc,
  ownUser,
  type ProcPath,
  readProc,
  readProcLink,
} from '../base/files/read-proc.ts';
import { inSlices } from '../base/in-slices.ts';
import { unlessUnseen } from '../base/paths/stat-of.ts';

/** The two ends of a connection of this machine, as the server sees them. */
export interface LocalConnection {
  peer: { address: string; port: number };
  own: { address: string; port: number };
}

/** The variable that marks the processes of commands (`ProcessMarks`). */
const MARK = 'HEDDLE_COMMAND';
/** The state of an established connection in /proc/net/tcp. */
const ESTABLISHED = '01';
/** The most processes between a client and the first process of the system. */
const PARENTS_MAX = 1000;
/** Looking at one process takes so many units of `EventLoopYield`. */
const PROCESS_UNITS = 20;

/**
 * Why a process that has connected from this machine may not use the server without a token; null:
 * it may. It may if it runs as the user of this process and heddle has not started it for a
 * command. All that cannot be found out counts against it.
 */
export async function localPeerProblem(connection: LocalConnection): Promise<string | null> {
  const user = ownUser();
  const found = peerSocket(connection);
  if (user === null || found === null) return 'the process at the other end cannot be identified';
  if (found.uid !== user.uid) return 'another user has connected';
  const pid = await holderOf(found.inode);
  if (pid === null) return 'the process at the other end cannot be identified';
  // The proxy of commands is in this process.
  const isOwn = pid === linkOf('/proc/self');
  return isOwn || isOfCommand(pid) ? 'a command that heddle has started has connected' : null;
}

/** The socket at the other end, with the user that has made it. Null: the system shows none. */
function peerSocket({ peer, own }: LocalConnection): { uid: number; inode: string } | null {
  for (const [file, bytes] of TABLES) {
    const [local, remote] = [hexAddress(peer, bytes), hexAddress(own, bytes)];
    if (local === null || remote === null) continue;
    for (const line of (readProc(file) ?? '').split('\n')) {
      const [, from, to, state, , , , uid, , inode] = line.trim().split(/\s+/);
      if (from === local && to === remote && state === ESTABLISHED && inode !== undefined)
        return { uid: Number(uid), inode };
    }
  }
  return null;
}

const TABLES: readonly (readonly [ProcPath, 4 | 16])[] = [
  ['/proc/self/net/tcp', 4],
  ['/proc/self/net/tcp6', 16],
];

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

/** A process that has this socket open. Null: none that can be seen. */
async function holderOf(inode: string): Promise<string | null> {
  const name = `socket:[${inode}]`;
  const pids = namesInProc('/proc').filter((entry) => /^\d+$/.test(entry));
  // The client is more likely a young process than an old one.
  for await (const pid of inSlices(pids.reverse(), PROCESS_UNITS))
    if (hasOpen(pid, name)) return pid;
  return null;
}

function hasOpen(pid: string, name: string): boolean {
  const files = unlessUnseen(() => namesInProc(`/proc/${pid}/fd`)) ?? [];
  return files.some((file) => linkOf(`/proc/${pid}/fd/${file}`) === name);
}

/**
 * Whether heddle has started this process or one above it, or it lives among other processes than
 * this one, as commands in a sandbox do. True if that cannot be found out.
 */
function isOfCommand(pid: string): boolean {
  const space = linkOf('/proc/self/ns/pid');
  if (space === null || linkOf(`/proc/${pid}/ns/pid`) !== space) return true;
  if (readProc(`/proc/${pid}/environ`, 'latin1') === null) return true;
  let above: string | null = pid;
  for (let count = 0; above !== null && above !== '0' && count < PARENTS_MAX; count++) {
    if (isMarked(above)) return true;
    above = parentOf(above);
  }
  return above === null;
}

/**
 * Whether a process has another mark than this server, in its environment or in its limit of file
 * locks. One of another user shows no environment.
 */
function isMarked(pid: string): boolean {
  const mark = markOf(pid);
  if (mark !== null && mark !== markOf('self')) return true;
  const limit = lockLimit(pid);
  return limit !== null && limit !== lockLimit('self');
}

function markOf(pid: string): string | null {
  const environment = readProc(`/proc/${pid}/environ`, 'latin1') ?? '';
  return environment.split('\0').find((entry) => entry.startsWith(`${MARK}=`)) ?? null;
}

/** The limit of file locks, if it was set. */
function lockLimit(pid: string): string | null {
  const limits = readProc(`/proc/${pid}/limits`, 'latin1') ?? '';
  return /^Max file locks +(\d+) /m.exec(limits)?.[1] ?? null;
}

/** Null: the process has ended. */
function parentOf(pid: string): string | null {
  return /^PPid:\s+(\d+)$/m.exec(readProc(`/proc/${pid}/status`) ?? '')?.[1] ?? null;
}

function linkOf(path: ProcPath): string | null {
  return unlessUnseen(() => readProcLink(path));
}
