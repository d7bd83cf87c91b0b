// The script of the thread in which a store runs.
import { parentPort, workerData } from 'node:worker_threads';
import { type StoreWorkerData, serveStore } from './serve-store.ts';

if (parentPort === null) throw new Error('this script is for a worker');
serveStore(parentPort, workerData as StoreWorkerData);
