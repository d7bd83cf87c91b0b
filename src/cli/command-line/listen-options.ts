import { type ListenAddress, listenAddress } from '../../listen/listen-address.ts';
import { ListenError } from '../../listen/listen-error.ts';
import type { BearerOptions } from '../../listen/read-bearer-rules.ts';
import type { OptionName, OptionValues } from './read-options.ts';
import { UsageError } from './usage-error.ts';

/** The addresses of a server, and who may connect there. Paths are as in the command line. */
export interface ListenOptions {
  /** At least one. */
  addresses: ListenAddress[];
  /** Null: no client has a token. */
  bearer: BearerOptions | null;
  /** The origins of pages that may connect. */
  origins: string[];
  /** The names of this machine that requests may be made to. */
  hosts: string[];
}

/** Whether clients can connect beside the one on stdio. */
export function isListening({ listen }: { listen: ListenOptions }): boolean {
  return listen.addresses.some(({ kind }) => kind === 'ws' || kind === 'unix');
}

const CLOCK_SKEW_SECONDS = 30;
const OF_TOKEN: OptionName[] = ['ws-token-file', 'ws-token-sha256'];
const OF_SECRET: OptionName[] = [
  'ws-shared-secret-file',
  'ws-issuer',
  'ws-audience',
  'ws-max-clock-skew-seconds',
];
const OF_PORTS: OptionName[] = ['ws-auth', 'ws-allow-origin', 'ws-allow-host'];

/**
 * Throws a UsageError, or a ListenError if options do not fit together: the exit code is then 1, as
 * in Codex.
 */
export function listenOptions(values: OptionValues): ListenOptions {
  const { listen = [], stdio = false } = values;
  const addresses = listen.map((text) => {
    const address = listenAddress(text);
    if (typeof address === 'string') throw new UsageError(`--listen: ${address}`);
    return address;
  });
  if (addresses.length === 0 || (stdio && !addresses.some(({ kind }) => kind === 'stdio')))
    addresses.unshift({ kind: 'stdio' });
  const bearer = bearerOptions(values);
  const forPorts = OF_PORTS.find((name) => values[name] !== undefined);
  if (forPorts !== undefined && !addresses.some(({ kind }) => kind === 'ws'))
    throw new ListenError(`--${forPorts} requires --listen ws://IP:PORT`);
  if (values.deterministic === true && addresses.some(({ kind }) => kind !== 'stdio'))
    throw new UsageError('--deterministic serves only stdio://');
  if (values.framing !== undefined && !addresses.some(({ kind }) => kind === 'stdio'))
    throw new UsageError('--framing requires --listen stdio://');
  return {
    addresses,
    bearer,
    origins: (values['ws-allow-origin'] ?? []).map(originOf),
    hosts: (values['ws-allow-host'] ?? []).map((name) => name.toLowerCase()),
  };
}

function bearerOptions(values: OptionValues): BearerOptions | null {
  const mode = values['ws-auth'];
  const wrong = [
    ...(mode === 'capability-token' ? [] : OF_TOKEN),
    ...(mode === 'signed-bearer-token' ? [] : OF_SECRET),
  ].find((name) => values[name] !== undefined);
  if (wrong !== undefined) {
    const needed = OF_TOKEN.includes(wrong) ? 'capability-token' : 'signed-bearer-token';
    throw new ListenError(`--${wrong} requires --ws-auth ${needed}`);
  }
  if (mode === undefined) return null;
  if (mode === 'capability-token') return { mode, token: tokenOf(values) };
  const secretFile = values['ws-shared-secret-file'];
  if (secretFile === undefined)
    throw new ListenError('--ws-auth signed-bearer-token requires --ws-shared-secret-file');
  return {
    mode: 'signed-bearer-token',
    secretFile,
    issuer: values['ws-issuer'] ?? null,
    audience: values['ws-audience'] ?? null,
    clockSkewSeconds: secondsOf(values['ws-max-clock-skew-seconds']),
  };
}

function tokenOf(values: OptionValues): { file: string } | { sha256: string } {
  const { 'ws-token-file': file, 'ws-token-sha256': sha256 } = values;
  if ((file === undefined) === (sha256 === undefined))
    throw new ListenError(
      '--ws-auth capability-token requires either --ws-token-file or --ws-token-sha256',
    );
  if (file !== undefined) return { file };
  if (sha256 === undefined || !/^[0-9a-f]{64}$/i.test(sha256))
    throw new ListenError(
      '--ws-token-sha256 requires the SHA-256 of the token: 64 hexadecimal digits',
    );
  return { sha256 };
}

function secondsOf(text: string | undefined): number {
  if (text === undefined) return CLOCK_SKEW_SECONDS;
  if (!/^\d{1,9}$/.test(text))
    throw new ListenError(
      `--ws-max-clock-skew-seconds requires a whole number of seconds, found ${JSON.stringify(text)}`,
    );
  return Number(text);
}

/** An origin as browsers send it. */
function originOf(text: string): string {
  const origin = URL.canParse(text) ? new URL(text).origin : 'null';
  if (origin !== 'null') return origin;
  // Pages of applications have schemes of their own.
  if (/^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+$/i.test(text)) return text;
  throw new UsageError(
    `--ws-allow-origin requires an origin such as https://example.com, found ${JSON.stringify(text)}`,
  );
}
