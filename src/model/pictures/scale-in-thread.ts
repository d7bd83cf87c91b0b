import { type Clock, systemClock } from '../../base/clock.ts';
import { startWorker } from '../../base/processes/start-worker.ts';
import type { Picture, ScalePicture } from './scaled-pictures.ts';

type Scaled = Awaited<ReturnType<ScalePicture>>;

/** Of JavaScript alone: the library has memory of its own, which the limit of pixels bounds. */
const HEAP_MB_MAX = 512;
/** How long the scaling of one picture may take. */
const SCALE_MS_MAX = 30_000;

/**
 * Returns a function that scales each picture in a thread, which ends with the picture. `script`:
 * the absolute path of its script.
 */
export function scaleInThread(
  script: string,
  clock: Pick<Clock, 'setTimer'> = systemClock,
): ScalePicture {
  return (picture, sideMax) =>
    new Promise<Scaled>((resolve) => {
      const worker = startWorker<Picture | null>({
        script,
        heapMbMax: HEAP_MB_MAX,
        data: { picture, sideMax },
        onMessage: resolve,
        onEnd: () => {
          timer.clear();
          resolve('unfinished');
        },
      });
      worker.ref();
      const timer = clock.setTimer(() => void worker.terminate(), SCALE_MS_MAX);
      // The system has no resources for a thread.
    }).catch(() => 'unfinished');
}
