import { systemErrorCode } from '../../base/system-error-code.ts';
import { systemReason } from '../command-line/option-error.ts';
import type { Output } from './screen.ts';

const READER_GONE = ['EPIPE', 'EIO', 'ECONNRESET'];

/**
 * Calls back when the output cannot be written, with the reason. Null: its reader is gone, as after
 * `| head`, and need not be told.
 */
export function onLostOutput(
  output: Pick<Output, 'on'>,
  handler: (reason: string | null) => void,
): void {
  output.on('error', (error: Error) =>
    handler(
      READER_GONE.includes(systemErrorCode(error) ?? '')
        ? null
        : `the output cannot be written: ${systemReason(error)}`,
    ),
  );
}
