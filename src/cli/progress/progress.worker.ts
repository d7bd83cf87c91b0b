// The script of the worker that shows progress while the main thread is held by its work.
import { writeSync } from 'node:fs';
import { systemClock } from '../../base/clock.ts';
import { systemErrorCode } from '../../base/system-error-code.ts';
import { serveWorker } from '../../base/worker/serve-worker.ts';
import { ProgressLine, type ProgressPlace } from './progress-line.ts';

const STDERR = 2;

serveWorker<object, ProgressPlace>(
  (_main, place) => new ProgressLine(place, { clock: systemClock, write }),
);

/** Nothing waits for progress: a line that nobody takes is dropped. */
function write(text: string): void {
  try {
    writeSync(STDERR, text);
  } catch (error) {
    if (systemErrorCode(error) === null) throw error;
  }
}
