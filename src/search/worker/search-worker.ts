// The script of the thread that ranks paths.
import { parentPort } from 'node:worker_threads';
import { serveIndexes } from './serve-indexes.ts';

if (parentPort === null) throw new Error('this script is for a worker');
serveIndexes(parentPort);
