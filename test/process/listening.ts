import { existsSync } from 'node:fs';
import { expect, onTestFinished } from 'vitest';
import { type HeddleProcess, type Place, type ProcessOptions, startHeddle } from './support.ts';

/** The lines on stderr for each address of a port. */
const BANNER =
  /^heddle app-server\n {2}listening on: (ws:\/\/.*:\d+)\n {2}health: http:\/\/.*:\d+\/healthz$/gm;

export interface Listening {
  heddle: HeddleProcess;
  /** The addresses of ports, as the server names them. */
  ports: string[];
}

/**
 * Starts a server that listens. `addresses`: those of `--listen`, of which paths are absolute.
 * Resolves when all can be connected to.
 */
export async function startListening(
  where: Place,
  addresses: string[],
  { args = [], ...options }: ProcessOptions = {},
): Promise<Listening> {
  const listen = addresses.flatMap((address) => ['--listen', address]);
  const heddle = await startHeddle(where, {
    handshake: false,
    args: ['app-server', ...listen, ...args],
    ...options,
    // The lines that name the addresses are none of the log's.
    errorsLogged: true,
  });
  onTestFinished(() => {
    expect(heddle.stderr).not.toContain('"level":50');
    if (options.errorsLogged !== true)
      expect(heddle.stderr.replaceAll(BANNER, '')).not.toMatch(/^[^{\n]/m);
  });
  const paths = addresses.flatMap((one) => (/^unix:\/\/.+/.test(one) ? [one.slice(7)] : []));
  const wanted = addresses.filter((one) => one.startsWith('ws://')).length;
  const ports = () => [...heddle.stderr.matchAll(BANNER)].map(([, address = '']) => address);
  await expect
    .poll(() => heddle.hasEnded || (ports().length === wanted && paths.every(existsSync)))
    .toBe(true);
  return { heddle, ports: ports() };
}
