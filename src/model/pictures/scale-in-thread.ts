import { type Clock, systemClock } from '../../base/clock.ts';
import { runInWorker } from '../../base/worker/run-in-worker.ts';
import type { Picture, ScalePicture } from './scaled-pictures.ts';

/** Of JavaScript alone: the library has memory of its own, which the limit of pixels bounds. */
const HEAP_MB_MAX = 512;
/** How long the scaling of one picture may take. */
const SCALE_MS_MAX = 30_000;

/**
 * Returns a function that scales each picture in a worker, which ends with the picture. `script`:
 * the absolute path of its script.
 */
export function scaleInThread(
  script: string,
  clock: Pick<Clock, 'setTimer'> = systemClock,
): ScalePicture {
  return (picture, sideMax) =>
    runInWorker<Picture | null, 'unfinished'>(
      { script, heapMbMax: HEAP_MB_MAX, data: { picture, sideMax }, msMax: SCALE_MS_MAX, clock },
      'unfinished',
      // It has died, or the system has no resources for it.
    ).catch(() => 'unfinished');
}
