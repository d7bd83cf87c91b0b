import { resolve } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { hideFile } from '../base/files/hidden-sockets.ts';
import type { Log } from '../base/log.ts';
import { ClientListeners } from '../listen/client-listeners.ts';
import { type BearerOptions, readBearerRules } from '../listen/read-bearer-rules.ts';
import type { Transport } from '../transport/transport.ts';
import type { ListenOptions } from './command-line/listen-options.ts';

export interface OpenListenersHost {
  home: string;
  /** Paths of the options are relative to it. */
  cwd: string;
  clock: Clock;
  log: Log;
  /** Gets the addresses. */
  stderr: { isTTY?: boolean; write(text: string): unknown };
  /** Serves a client. */
  connect(transport: Transport): Promise<void>;
}

/**
 * Listens on the addresses of the command line, except stdio. Rejects with a ListenError if one of
 * them cannot be used.
 */
export async function openListeners(
  { addresses, bearer, origins, hosts }: ListenOptions,
  { home, cwd, clock, log, stderr, connect }: OpenListenersHost,
): Promise<ClientListeners> {
  const rules = bearer === null ? null : absolute(bearer, cwd);
  const read = rules === null ? null : () => readBearerRules(rules);
  // A file that cannot be read ends the start.
  read?.();
  // A command that reads it could connect.
  if (rules !== null) for (const file of filesOf(rules)) hideFile(file);
  // Loaded now, because an upgrade of the package may replace it.
  if (rules?.mode === 'signed-bearer-token') await import('../listen/web-token-problem.ts');
  const listeners = new ClientListeners({
    home,
    cwd,
    clock,
    log,
    admission: { bearer: read, origins, hosts },
    onConnection: (transport) => void connect(transport),
  });
  try {
    for (const address of addresses) {
      if (address.kind !== 'ws' && address.kind !== 'unix') continue;
      const { kind, address: url } = await listeners.open(address);
      // Clients that start a server read the port here. They know the path of a socket.
      if (kind === 'ws' || stderr.isTTY) stderr.write(banner(url));
    }
  } catch (error) {
    listeners.close();
    throw error;
  }
  return listeners;
}

/** The files with secrets. */
function filesOf(options: BearerOptions): string[] {
  if (options.mode === 'signed-bearer-token') return [options.secretFile];
  return 'file' in options.token ? [options.token.file] : [];
}

/** Some clients look for the words `listening on`, as Codex writes them. */
function banner(url: string): string {
  const http = url.replace(/^ws:/, 'http:');
  const health = http === url ? '' : `  health: ${http}/healthz\n`;
  return `heddle app-server\n  listening on: ${url}\n${health}`;
}

function absolute(options: BearerOptions, cwd: string): BearerOptions {
  if (options.mode === 'signed-bearer-token')
    return { ...options, secretFile: resolve(cwd, options.secretFile) };
  const { token } = options;
  return 'file' in token ? { ...options, token: { file: resolve(cwd, token.file) } } : options;
}
