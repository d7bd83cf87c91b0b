// The script of the thread that speaks with MCP servers.
import { parentPort } from 'node:worker_threads';
import type { ToHost } from '../to-host.ts';
import { createMcpHost } from './create-mcp-host.ts';

if (parentPort === null) throw new Error('this script is for a worker thread');
const port = parentPort;
const host = createMcpHost((message) => port.postMessage(message));
port.on('message', (message: ToHost) => host.receive(message));
