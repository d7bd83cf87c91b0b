// The script of the thread that shows progress while the main thread is held by its work.
import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../base/clock.ts';
import { systemErrorCode } from '../../base/system-error-code.ts';
import { ProgressLine, type ProgressPlace } from './progress-line.ts';

const STDERR = 2;

if (parentPort === null) throw new Error('this script is for a worker');
const port = parentPort;
const line = new ProgressLine(workerData as ProgressPlace, { clock: systemClock, write });

port.on('message', (step: string | null) => {
  if (step !== null) line.step(step);
  else {
    line.end();
    port.close();
  }
});

/** Nothing waits for progress: a line that nobody takes is dropped. */
function write(text: string): void {
  try {
    writeSync(STDERR, text);
  } catch (error) {
    if (systemErrorCode(error) === null) throw error;
  }
}
