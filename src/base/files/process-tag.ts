import { unlessUnseen } from '../paths/stat-of.ts';
import { type ProcPath, readProc, readProcLink } from './read-proc.ts';

/** The form of a tag, for the names of files. */
export const TAG_FORM = '[0-9a-f]{8}-\\d+-\\d+-\\d+';
/** The tag on systems that do not show processes. No process with this tag counts as ended. */
const UNKNOWN = '00000000-0-0-0';
const BOOT_CHARS = 8;
/**
 * The number of the field of /proc/PID/stat that has the time of the start, counted from the one
 * behind the name.
 */
const START_FIELD = 20;

let own: string | null = null;

/**
 * A name for this process that no other process has: of the system's start, the namespace, the
 * process id and the start time. So the files that it leaves when it is killed can be told from
 * those of a process that still runs.
 */
export function processTag(): string {
  own ??= [
    bootId(),
    namespace(),
    unlessUnseen(() => readProcLink('/proc/self')),
    startOf('/proc/self'),
  ].join('-');
  return isTag(own) ? own : UNKNOWN;
}

/**
 * Whether the process with this tag has surely ended. False for a process of another machine,
 * container or start of the system.
 */
export function hasEnded(tag: string): boolean {
  const [boot, space, pid, start] = tag.split('-');
  if (!isTag(tag) || tag === UNKNOWN || boot !== bootId() || space !== namespace()) return false;
  return startOf(`/proc/${pid}`) !== start;
}

/** Whether a tag is of another start of the system than this one, of this machine or another. */
export function isOfOtherBoot(tag: string): boolean {
  return isTag(tag) && tag !== UNKNOWN && bootId() !== '' && tag.split('-')[0] !== bootId();
}

function isTag(text: string): boolean {
  return new RegExp(`^${TAG_FORM}$`).test(text);
}

function bootId(): string {
  return (readProc('/proc/sys/kernel/random/boot_id') ?? '').slice(0, BOOT_CHARS);
}

function namespace(): string {
  return unlessUnseen(() => /\d+/.exec(readProcLink('/proc/self/ns/pid'))?.[0]) ?? '';
}

function startOf(folder: ProcPath): string {
  const stat = readProc(`${folder}/stat`) ?? '';
  return stat.slice(stat.lastIndexOf(')') + 1).split(' ')[START_FIELD] ?? '';
}
