import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';

const SOURCE = join(import.meta.dirname, 'faulty-disk.c');
const BYTES = 512;
const PREFIX_AT = 64;
const AFFECTED_AT = 28;
const CALLS = { write: 1, sync: 2, read: 4, truncate: 8 } as const;

export interface DiskOrders {
  /** The calls that are affected. */
  calls: (keyof typeof CALLS)[];
  /** Null: the calls succeed. */
  error: 'EIO' | 'ENOSPC' | null;
  delayMs?: number;
  /** How many calls are let through first. */
  skip?: number;
  /** How many calls are affected then; by default all. */
  times?: number;
  /** Whether a write that fails stores half of its bytes first. */
  halves?: boolean;
}

/**
 * Compiles the library that makes the disk of a server faulty, into `folder`. Returns the path, or
 * the reason why it could not be compiled.
 */
export function compileFaultyDisk(folder: string): { library: string } | { missing: string } {
  if (process.platform !== 'linux')
    return { missing: `there is no library for ${process.platform}` };
  const library = join(folder, 'faulty-disk.so');
  const { error, status, stderr } = spawnSync(
    'cc',
    ['-shared', '-fPIC', '-O1', '-o', library, SOURCE, '-ldl'],
    { encoding: 'utf8' },
  );
  if (error !== undefined) return { missing: `cc cannot be started (${error.message})` };
  return status === 0 ? { library } : { missing: `cc failed: ${stderr.slice(0, 500)}` };
}

/** The disk of a server that was started with `env`. It works until it gets orders. */
export class FaultyDisk {
  readonly env: Record<string, string>;
  readonly #file: number;
  readonly #prefix: string;

  /** Affects the files whose paths begin with `prefix`. */
  constructor(library: string, { folder, prefix }: { folder: string; prefix: string }) {
    const orders = join(folder, 'disk-orders');
    writeFileSync(orders, Buffer.alloc(BYTES));
    this.#file = openSync(orders, 'r+');
    this.#prefix = prefix;
    this.env = { LD_PRELOAD: library, HEDDLE_FAULTS_ORDERS: orders };
  }

  order({
    calls,
    error,
    delayMs = 0,
    skip = 0,
    times = 2 ** 31 - 1,
    halves = false,
  }: DiskOrders): void {
    this.#arm(false);
    const bytes = Buffer.alloc(BYTES);
    const mask = calls.reduce((sum, call) => sum | CALLS[call], 0);
    const code = error === null ? 0 : constants.errno[error];
    for (const [index, value] of [0, mask, code, delayMs, skip, times, halves ? 1 : 0, 0].entries())
      bytes.writeInt32LE(value, index * 4);
    bytes.write(this.#prefix, PREFIX_AT);
    writeSync(this.#file, bytes, 0, BYTES, 0);
    this.#arm(true);
  }

  /** How many calls the last orders have affected. */
  get affected(): number {
    const bytes = Buffer.alloc(4);
    readSync(this.#file, bytes, 0, 4, AFFECTED_AT);
    return bytes.readInt32LE();
  }

  /** Makes the disk work again. */
  repair(): void {
    this.#arm(false);
  }

  close(): void {
    closeSync(this.#file);
  }

  #arm(armed: boolean): void {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(armed ? 1 : 0);
    writeSync(this.#file, bytes, 0, 4, 0);
  }
}
