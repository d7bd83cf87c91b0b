import { lstat, mkdir, stat } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { decodeBase64 } from '../base/decode-base64.ts';
import { encodeBase64 } from '../base/encode-base64.ts';
import { KeyedQueue } from '../base/keyed-queue.ts';
import { makeFolder } from '../base/paths/make-folder.ts';
import { copyPath } from '../files/copy-path.ts';
import { withFile } from '../files/file-failure.ts';
import type { FileWatches } from '../files/file-watches.ts';
import { readableSize, readFile } from '../files/read-file.ts';
import { readFolder } from '../files/read-folder.ts';
import { removePath } from '../files/remove-path.ts';
import { writeAll } from '../files/write-all.ts';
import { writeFile } from '../files/write-file.ts';
import { invalidBase64 } from '../protocol/errors/file-errors.ts';
import type { FsGetMetadataResponse } from '../protocol/generated/types.ts';
import { invalidParams } from '../protocol/rpc-error.ts';
import { type Caller, inQueue, type MethodTable } from './requested/method.ts';

/**
 * Files of at least this size are read one at a time for each connection, each after the client has
 * read its earlier responses.
 */
const LARGE_BYTES_MIN = 256 * 1024;

/** Requests for one path take effect in the order in which they came. */
const perPath = ({ path }: { path: string }): string => `fs:${path}`;
const perWatch = ({ watchId }: { watchId: string }): string => `fs/watch:${watchId}`;

export function fsMethods({ fileWatches }: { fileWatches: FileWatches }) {
  const largeReads = new KeyedQueue();
  return {
    ...changingMethods(),

    'fs/readFile': {
      order: inQueue(perPath),
      handle(params, { caller }) {
        const path = absolutePath('path', params.path);
        return withFile(path, async () => {
          const size = await readableSize(path);
          const bytes =
            size < LARGE_BYTES_MIN
              ? await readFile(path)
              : await largeReads.run(`${caller.id}`, () => readWhenRead(path, caller));
          return { dataBase64: await encodeBase64(bytes) };
        });
      },
    },

    'fs/getMetadata': {
      order: inQueue(perPath),
      handle(params) {
        const path = absolutePath('path', params.path);
        return withFile(path, () => metadata(path));
      },
    },

    'fs/readDirectory': {
      order: inQueue(perPath),
      handle(params) {
        const path = absolutePath('path', params.path);
        return withFile(path, async () => ({ entries: await readFolder(path) }));
      },
    },

    'fs/watch': {
      order: inQueue(perWatch),
      async handle({ watchId, path }, { caller, after }) {
        const watched = absolutePath('path', path);
        after(await fileWatches.add(caller.id, watchId, watched));
        return { path: watched };
      },
    },

    'fs/unwatch': {
      order: inQueue(perWatch),
      handle({ watchId }, { caller }) {
        fileWatches.remove(caller.id, watchId);
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}

/** The methods that change files and folders. */
function changingMethods() {
  return {
    'fs/writeFile': {
      order: inQueue(perPath),
      async handle(params) {
        const path = absolutePath('path', params.path);
        const bytes = await decodeBase64(params.dataBase64);
        if (bytes === null) throw invalidBase64();
        await withFile(path, () => writeFile(path, (file) => writeAll(file, bytes)));
        return {};
      },
    },

    'fs/createDirectory': {
      order: inQueue(perPath),
      async handle(params) {
        const path = absolutePath('path', params.path);
        await withFile(path, () => (params.recursive === false ? mkdir(path) : makeFolder(path)));
        return {};
      },
    },

    'fs/remove': {
      order: inQueue(perPath),
      async handle(params) {
        const path = absolutePath('path', params.path);
        await withFile(path, () =>
          removePath(path, {
            recursive: params.recursive !== false,
            force: params.force !== false,
          }),
        );
        return {};
      },
    },

    'fs/copy': {
      order: inQueue(({ destinationPath }) => `fs:${destinationPath}`),
      async handle(params) {
        const source = absolutePath('sourcePath', params.sourcePath);
        const destination = absolutePath('destinationPath', params.destinationPath);
        await withFile(
          destination,
          () => copyPath(source, destination, params.recursive === true),
          `${source} to ${destination}`,
        );
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}

/**
 * The path without `.`, `..` and trailing slashes. Throws if it is relative or contains a NUL byte.
 */
function absolutePath(field: string, path: string): string {
  if (!isAbsolute(path))
    throw invalidParams(`params.${field}: ${JSON.stringify(path)} is not an absolute path`);
  if (path.includes('\0')) throw invalidParams(`params.${field}: a path cannot contain a NUL byte`);
  return resolve(path);
}

async function readWhenRead(path: string, caller: Caller): Promise<Buffer> {
  await caller.ready();
  return readFile(path);
}

async function metadata(path: string): Promise<FsGetMetadataResponse> {
  const [own, target] = await Promise.all([lstat(path), stat(path)]);
  return {
    isDirectory: target.isDirectory(),
    isFile: target.isFile(),
    isSymlink: own.isSymbolicLink(),
    createdAtMs: Math.trunc(target.birthtimeMs),
    modifiedAtMs: Math.trunc(target.mtimeMs),
  };
}
