// The script of the thread that speaks with MCP servers.
import { format } from 'node:util';
import { parentPort, workerData } from 'node:worker_threads';
import { monotonicMs } from '../../base/clock.ts';
import type { Env } from '../../base/env.ts';
import { cutText } from '../../base/text/cut-text.ts';
import { redactLikelySecrets } from '../../secrets/redact-likely-secrets.ts';
import type { ToHost } from '../messages/to-host.ts';
import { createMcpHost } from './create-mcp-host.ts';

/** More of a warning is not looked through for secrets, or not told. */
const READ_CHARS_MAX = 10_000;
const TOLD_CHARS_MAX = 500;
/** Further warnings of a second are not told. */
const A_SECOND_MAX = 20;

if (parentPort === null) throw new Error('this script is for a worker');
const port = parentPort;
let [second, count] = [0, 0];
// The library warns on the console, with texts of servers. The console would write into the output
// of heddle.
const warn = (...args: unknown[]) => {
  const now = Math.floor(monotonicMs() / 1000);
  [second, count] = [now, now === second ? count + 1 : 1];
  if (count > A_SECOND_MAX) return;
  const message = cutText(
    redactLikelySecrets(cutText(format(...args), READ_CHARS_MAX)),
    TOLD_CHARS_MAX,
  );
  port.postMessage({
    type: 'warned',
    fields: { message },
    text: 'the library for MCP servers warns',
  });
};
Object.assign(console, { debug: warn, log: warn, info: warn, warn, error: warn });
const host = createMcpHost((message) => port.postMessage(message), workerData as Env);
port.on('message', (message: ToHost) => host.receive(message));
