// The script of a worker that scales a picture.
import { serveWorker } from '../../base/worker/serve-worker.ts';
import { scalePicture } from './scale-picture.ts';

const SERVED = { scalePicture };

export type PictureScaler = typeof SERVED;

serveWorker(() => SERVED);
