// The script of the worker that speaks with MCP servers.
import { format } from 'node:util';
import { monotonicMs } from '../../base/clock.ts';
import type { Env } from '../../base/env.ts';
import type { Log } from '../../base/log.ts';
import { cutText } from '../../base/text/cut-text.ts';
import { serveWorker } from '../../base/worker/serve-worker.ts';
import { redactLikelySecrets } from '../../secrets/redact-likely-secrets.ts';
import { MCP_ERRORS } from '../messages/mcp-error.ts';
import type { McpHostUser } from '../messages/mcp-host.ts';
import { createMcpHost } from './create-mcp-host.ts';

/** More of a warning is not looked through for secrets, or not told. */
const READ_CHARS_MAX = 10_000;
const TOLD_CHARS_MAX = 500;
/** Further warnings of a second are not told. */
const A_SECOND_MAX = 20;

/**
 * The library warns on the console, with texts of servers. The console would write into the output
 * of heddle.
 */
function warnsInLog(log: Log): void {
  let [second, count] = [0, 0];
  const warn = (...args: unknown[]) => {
    const now = Math.floor(monotonicMs() / 1000);
    [second, count] = [now, now === second ? count + 1 : 1];
    if (count > A_SECOND_MAX) return;
    const text = redactLikelySecrets(cutText(format(...args), READ_CHARS_MAX));
    log.warn({ message: cutText(text, TOLD_CHARS_MAX) }, 'the library for MCP servers warns');
  };
  Object.assign(console, { debug: warn, log: warn, info: warn, warn, error: warn });
}

serveWorker<McpHostUser, Env>(
  (main, env) => {
    warnsInLog(main.log);
    return createMcpHost(main, env);
  },
  { knownErrors: MCP_ERRORS },
);
