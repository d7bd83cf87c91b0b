// The script of the thread that speaks with MCP servers. Loaded in the main thread, it only exports the host.
import { parentPort, workerData } from 'node:worker_threads';
import type { ToHost } from '../host-message.ts';
import { createMcpHost } from './mcp-host.ts';

if (parentPort !== null && workerData === 'mcp') {
  const port = parentPort;
  const host = createMcpHost((message) => port.postMessage(message));
  port.on('message', (message: ToHost) => host.receive(message));
}

export { createMcpHost };
