import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { asStoreError } from '../../src/store/sqlite/connect/as-store-error.ts';
import { tempFolder } from '../config/temp-folder.ts';

describe('an error says what happened and what to do', () => {
  test.each([
    [
      'EIO',
      'store_failed',
      /the disk, or the connection to it, reported an error: check it, then restart heddle/,
    ],
    ['SQLITE_IOERR_READ', 'store_failed', /reported an error: check it/],
    ['SQLITE_IOERR_WRITE', 'store_failed', /reported an error: check it/],
    ['SQLITE_IOERR_FSYNC', 'store_failed', /reported an error: check it/],
    ['SQLITE_IOERR_SHMSIZE', 'store_failed', /reported an error: check it/],
    [
      'SQLITE_FULL',
      'store_full',
      /cannot grow, because the disk is full\. Nothing was written\. Free some space/,
    ],
    ['ENOSPC', 'store_full', /the disk is full/],
    ['EDQUOT', 'store_full', /your disk quota is used up/],
    ['EFBIG', 'store_full', /a limit for the size of files is reached/],
    ['EROFS', 'store_read_only', /the file system is read-only, so remount it/],
    ['EACCES', 'store_read_only', /make the file and its folder writable/],
    ['SQLITE_READONLY_DIRECTORY', 'store_read_only', /make the file and its folder writable/],
    [
      'EMFILE',
      'store_failed',
      /this process has too many open files: close some, or raise the limit/,
    ],
    ['ENFILE', 'store_failed', /the system has too many open files/],
    ['ESTALE', 'store_failed', /the network file system has lost the file/],
    ['SQLITE_IOERR_LOCK', 'store_failed', /does not support locks/],
    ['SQLITE_NOMEM', 'store_failed', /there is not enough memory/],
    [
      'SQLITE_CORRUPT_INDEX',
      'store_damaged',
      /is damaged: run 'heddle store repair', or restore a backup with 'heddle store restore FILE'/,
    ],
    ['SQLITE_ERROR', 'store_failed', /cannot be used \(/],
  ])('%s', (code, storeCode, text) => {
    const file = `${tempFolder()}/heddle.db`;
    const error = asStoreError(Object.assign(new Error('as the system says'), { code }), file);
    expect(error).toMatchObject({
      name: 'StoreError',
      code: storeCode,
      message: expect.stringMatching(text),
    });
    expect(error).toMatchObject({
      message: expect.stringMatching(/heddle\.db .* \(as the system says\)$/),
    });
    expect(readdirSync(dirname(file)), 'nothing is left').toEqual([]);
  });

  test('a failed write is a full disk only where the system says so', () => {
    const script = `
      import { asStoreError } from './src/store/sqlite/connect/as-store-error.ts';
      process.on('SIGXFSZ', () => {});
      console.log(asStoreError(Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_WRITE' }), process.argv[1]).message);
    `;
    const limited = [
      '-c',
      `ulimit -f 1000; exec "$@"`,
      'sh',
      process.execPath,
      '--import',
      'tsx',
      '--input-type=module',
      '-e',
      script,
    ];
    const file = `${tempFolder({ 'heddle.db': Buffer.alloc(500_000) })}/heddle.db`;
    const { stdout, stderr } = spawnSync('/bin/sh', [...limited, file], { encoding: 'utf8' });
    expect({ stdout, stderr }).toEqual({
      stdout: expect.stringContaining('a limit for the size of files is reached'),
      stderr: '',
    });
  });
});
