import {
  namesInProc,
  ownUser,
  type ProcPath,
  readProc,
  readProcLink,
} from '../base/files/read-proc.ts';
import { inSlices } from '../base/in-slices.ts';
import { SharedRuns } from '../base/loading/shared-runs.ts';
import { unlessUnseen } from '../base/paths/stat-of.ts';
import { type LocalConnection, peerSocket } from './peer-socket.ts';

/** The variable that marks the processes of commands (`ProcessMarks`). */
const MARK = 'HEDDLE_COMMAND';
/** The most processes between a client and the first process of the system. */
const PARENTS_MAX = 1000;
/** Looking at one process takes so many units of `EventLoopYield`. */
const PROCESS_UNITS = 20;

const UNKNOWN = 'the process at the other end cannot be identified';

/**
 * Why a process that has connected from this machine may not use the server without a token; null:
 * it may. It may if it runs as the user of this process and heddle has not started it for a
 * command. All that cannot be found out counts against it, and so does each process that shares the
 * connection with it.
 */
export async function localPeerProblem(connection: LocalConnection): Promise<string | null> {
  const user = ownUser();
  const found = await peerSocket(connection);
  if (user === null || found === null) return UNKNOWN;
  if (found.uid !== user.uid) return 'another user has connected';
  const problem = await holdersProblem(found.inode);
  if (problem !== null) return problem;
  // The numbers of ports, sockets and processes are used again. None of them was since the first
  // look if the same connection still stands.
  return (await peerSocket(connection))?.inode === found.inode ? null : UNKNOWN;
}

/** The problem with the processes that have a socket open; null: there is none. */
async function holdersProblem(inode: string): Promise<string | null> {
  const { holdersOf, servers } = await allProcesses.get();
  const holders = holdersOf.get(socketName(inode)) ?? [];
  const self = linkOf('/proc/self');
  // A server has the proxy of its commands in its own process.
  if (holders.some((pid) => pid === self || servers.has(pid) || isOfCommand(pid)))
    return 'a command that heddle has started has connected';
  // The number of a process may be that of another one by now.
  return holders.some((pid) => socketsOf(pid).includes(socketName(inode))) ? null : UNKNOWN;
}

/** The processes that have each socket open, and the servers that run commands. */
const allProcesses = new SharedRuns(async () => {
  const holdersOf = new Map<string, string[]>();
  const servers = new Set<string>();
  const pids = namesInProc('/proc').filter((entry) => /^\d+$/.test(entry));
  for await (const pid of inSlices(pids, PROCESS_UNITS)) {
    for (const name of new Set(socketsOf(pid)))
      holdersOf.set(name, [...(holdersOf.get(name) ?? []), pid]);
    const parent = isMarked(pid) ? parentOf(pid) : null;
    if (parent !== null && !isMarked(parent)) servers.add(parent);
  }
  return { holdersOf, servers };
});

function socketName(inode: string): string {
  return `socket:[${inode}]`;
}

/** The sockets that a process has open, as links name them. */
function socketsOf(pid: string): string[] {
  const files = unlessUnseen(() => namesInProc(`/proc/${pid}/fd`)) ?? [];
  const links = files.map((file) => linkOf(`/proc/${pid}/fd/${file}`) ?? '');
  return links.filter((link) => link.startsWith('socket:'));
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
