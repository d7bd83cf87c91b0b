// The script of the thread that speaks with MCP servers.
import { parentPort, workerData } from 'node:worker_threads';
import type { Env } from '../../base/env.ts';
import type { ToHost } from '../to-host.ts';
import { createMcpHost } from './create-mcp-host.ts';

if (parentPort === null) throw new Error('this script is for a worker thread');
const port = parentPort;
const host = createMcpHost((message) => port.postMessage(message), workerData as Env);
port.on('message', (message: ToHost) => host.receive(message));
