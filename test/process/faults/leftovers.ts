import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import { isWithin } from '../../../src/base/paths/is-within.ts';
import { readProc } from '../../support/proc-files.ts';
import type { HeddleProcess } from '../support.ts';
import { RAN } from './turn-plan.ts';

/** A killed server's watchdog, and a server's guards, go a moment later. */
const GONE_MS_MAX = 5_000;
const WATCHDOG = 'heddle-watchdog';

/**
 * Resolves with the processes that still run in or for a folder after a moment, except these and
 * the watchdogs of live servers.
 */
export async function processesLeft(
  folder: string,
  servers: readonly HeddleProcess[],
): Promise<string[]> {
  const pids = new Set(servers.map(({ pid }) => pid));
  const left = () => [...running(folder, pids), ...servers.flatMap((server) => children(server))];
  await gone(left);
  return left();
}

/** Resolves with those of the processes that have not ended after a moment. */
export async function survivors(pids: readonly string[]): Promise<string[]> {
  const left = () => pids.filter((pid) => isAlive(pid)).map((pid) => processLine(pid));
  await gone(left);
  return left();
}

/** Resolves with the files in a workspace that neither commands nor patches made. */
export async function workspaceLeft(cwd: string): Promise<string[]> {
  const left = () => {
    const names = existsSync(cwd) ? readdirSync(cwd, { recursive: true, encoding: 'utf8' }) : [];
    return names.filter((name) => name !== RAN && !name.startsWith('patched-'));
  };
  await gone(left);
  return left();
}

/** Resolves with the files in a home that belong to no running server. */
export async function homeLeft(home: string, servers: number): Promise<string[]> {
  const left = () => {
    const drafts = readdirSync(home).filter((name) => /\.new(-|$)|\.tmp$/.test(name));
    const locks = lockFiles(home);
    return [...drafts, ...(locks > servers ? [`${locks} lock files of ${servers} servers`] : [])];
  };
  await gone(left);
  return left();
}

/** How many lock files of servers a home has. */
export function lockFiles(home: string): number {
  const writers = join(home, 'heddle-writers');
  return existsSync(writers)
    ? readdirSync(writers).filter((name) => name.endsWith('.lock')).length
    : 0;
}

/** The processes that a server has started and that these started, as process ids. */
export function descendants(pid: number): string[] {
  const direct = childrenOf(pid);
  return [...direct, ...direct.flatMap((child) => descendants(Number(child)))];
}

async function gone(left: () => readonly string[]): Promise<void> {
  await vi
    .waitUntil(() => left().length === 0, { timeout: GONE_MS_MAX, interval: 5 })
    .catch(() => {});
}

function running(folder: string, except: ReadonlySet<number>): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && !except.has(Number(name)))
    .filter((pid) => (isIn(pid, folder) || commandLine(pid).includes(folder)) && isAlive(pid))
    .map((pid) => processLine(pid));
}

function children({ pid }: HeddleProcess): string[] {
  return childrenOf(pid)
    .filter((child) => isAlive(child) && !commandLine(child).includes(WATCHDOG))
    .map((child) => processLine(child));
}

function childrenOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')
        .split(' ')
        .filter((id) => id !== ''),
    );
  } catch {
    // It has ended.
    return [];
  }
}

/** A zombie has ended. */
function isAlive(pid: string): boolean {
  const stat = readProc(`/proc/${pid}/stat`);
  return stat !== '' && !/^[ZX]/.test(stat.slice(stat.lastIndexOf(') ') + 2));
}

/** Whether the working directory of a process is in a folder. */
function isIn(pid: string, folder: string): boolean {
  try {
    return isWithin(readlinkSync(`/proc/${pid}/cwd`), folder);
  } catch {
    return false;
  }
}

function processLine(pid: string): string {
  return `${pid}: ${commandLine(pid).slice(0, 200)}`;
}

function commandLine(pid: string): string {
  return readProc(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
}
