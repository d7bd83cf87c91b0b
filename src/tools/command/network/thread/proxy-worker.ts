// The script of the thread in which the proxies of commands are.
import { parentPort } from 'node:worker_threads';
import { serveProxies } from './serve-proxies.ts';

if (parentPort === null) throw new Error('this script is for a worker');
serveProxies(parentPort);
