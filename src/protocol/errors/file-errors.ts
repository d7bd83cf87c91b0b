import { cutText } from '../../base/text/cut-text.ts';
import type { ErrorCode } from '../generated/error-code.ts';
import { INTERNAL_ERROR, RpcError, refused, SHOWN_CHARS_MAX } from '../rpc-error.ts';

/**
 * For a request that asks for something that cannot be done with the file. `code` and `message`
 * come from `files/`.
 */
export function fileRefused(code: ErrorCode, message: string, path: string): RpcError {
  return refused(code, message, { path });
}

/** For an operation on a file that the system refused. */
export function fileFailed(code: ErrorCode, message: string, path: string): RpcError {
  return new RpcError(INTERNAL_ERROR, message, { code, path });
}

/** `problem` says why, if it is known. */
export function noDiffToRemote(
  cwd: string,
  problem = 'it is in no working tree with a commit that a remote is known to have',
): RpcError {
  return refused(
    'no_diff_to_remote',
    `failed to compute git diff to remote for cwd: ${JSON.stringify(cwd)}: ${problem}`,
    { cwd },
  );
}

export function invalidBase64(): RpcError {
  return refused(
    'invalid_encoding',
    'fs/writeFile requires valid base64 dataBase64: A-Z, a-z, 0-9, + and /, padded with =',
  );
}

export function watchIdTaken(watchId: string): RpcError {
  return refused('watch_id_taken', `watchId already exists: ${cutText(watchId, SHOWN_CHARS_MAX)}`);
}

export function tooManyWatches(watchesMax: number): RpcError {
  return refused(
    'too_many_watches',
    `a connection can have at most ${watchesMax} watches: end some with fs/unwatch`,
    {
      maxWatches: watchesMax,
    },
  );
}
