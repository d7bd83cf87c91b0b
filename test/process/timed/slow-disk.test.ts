// @module-tag slow
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder, writeFiles } from '../../config/temp-folder.ts';
import { type HeddleProcess, place, startHeddle } from '../support.ts';

const SYNC_MS = 400;
/** Far below the time of one flush. */
const ANSWER_MS_MAX = SYNC_MS / 2;

/** A library that makes each flush of a WAL slow, as a disk does that is busy. */
const SLOW_SYNC = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static void delay(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 4) return;
  path[length] = 0;
  if (strcmp(path + length - 4, "-wal") == 0) usleep(${SYNC_MS * 1000});
}
int fsync(int fd) { delay(fd); return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd); }
int fdatasync(int fd) { delay(fd); return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd); }
`;

function slowSync(): string {
  const folder = tempFolder();
  writeFiles(folder, { 'slow.c': SLOW_SYNC });
  execFileSync('cc', [
    '-shared',
    '-fPIC',
    '-o',
    join(folder, 'slow.so'),
    join(folder, 'slow.c'),
    '-ldl',
  ]);
  return join(folder, 'slow.so');
}

/** Asks for the other thread until the turn has completed. Returns how long each answer took. */
async function answersMeanwhile(
  heddle: HeddleProcess,
  turn: Promise<unknown>,
  threadId: string,
): Promise<number[]> {
  const times: number[] = [];
  let isOver = false;
  void turn.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const startMs = performance.now();
    await Promise.all([
      heddle.request('thread/read', { threadId, includeTurns: true }),
      heddle.request('model/list', {}),
    ]);
    times.push(performance.now() - startMs);
  }
  return times;
}

const canPreload = process.platform === 'linux' && spawnSync('cc', ['--version']).status === 0;

test.runIf(canPreload)(
  'on a slow disk the end of a turn waits for the disk, and other answers do not',
  async () => {
    const heddle = await startHeddle(place(), { env: { LD_PRELOAD: slowSync() } });
    const [first, second] = [
      await heddle.request('thread/start', {}),
      await heddle.request('thread/start', {}),
    ];
    await heddle.turn(second.thread.id, 'say one');
    const startMs = performance.now();
    const turn = heddle.turn(first.thread.id, 'say one');
    const times = await answersMeanwhile(heddle, turn, second.thread.id);
    expect(await turn).toMatchObject({ status: 'completed' });
    expect(performance.now() - startMs).toBeGreaterThan(SYNC_MS);
    expect(Math.max(...times)).toBeLessThan(ANSWER_MS_MAX);
  },
);
