import { type Clock, systemClock } from '../../base/clock.ts';
import type { Remote } from '../../base/worker/remote.ts';
import { runInWorker } from '../../base/worker/run-in-worker.ts';
import type { PictureScaler } from './picture.worker.ts';
import type { ScalePicture } from './scaled-pictures.ts';

/** Of JavaScript alone: the library has memory of its own, which the limit of pixels bounds. */
const HEAP_MB_MAX = 512;
/** How long the scaling of one picture may take. */
const SCALE_MS_MAX = 30_000;

/**
 * Returns a function that scales each picture in a worker, which ends with the picture. `script`:
 * the absolute path of the script that loads workers.
 */
export function scaleInWorker(
  script: string,
  clock: Pick<Clock, 'setTimer'> = systemClock,
): ScalePicture {
  const worker = {
    script,
    name: 'picture.worker',
    called: 'the worker that scales a picture',
    heapMbMax: HEAP_MB_MAX,
  };
  const deadline = { msMax: SCALE_MS_MAX, late: 'unfinished' as const, clock };
  return (picture, sideMax) =>
    runInWorker(
      worker,
      (scaler: Remote<PictureScaler>) => scaler.call('scalePicture', [picture, sideMax]),
      deadline,
      // It has died, or the system has no resources for it.
    ).catch(() => 'unfinished' as const);
}
