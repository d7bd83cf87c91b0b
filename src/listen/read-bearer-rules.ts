import { readRegularFileSync } from '../base/files/read-regular-file.ts';
import { type BearerRules, sha256 } from './bearer-problem.ts';
import { ListenError } from './listen-error.ts';

/** How clients prove that they may connect, as the command line says it. Paths are absolute. */
export type BearerOptions =
  | { mode: 'capability-token'; token: { file: string } | { sha256: string } }
  | {
      mode: 'signed-bearer-token';
      secretFile: string;
      issuer: string | null;
      audience: string | null;
      clockSkewSeconds: number;
    };

const FILE_BYTES_MAX = 64 * 1024;
/** As long as the hash that signs with it. */
const SECRET_BYTES_MIN = 32;

/**
 * Reads the rules. The files are read for each client, so that a token can be replaced while the
 * server runs. Throws a ListenError if a file cannot be used.
 */
export function readBearerRules(options: BearerOptions): BearerRules {
  if (options.mode === 'capability-token') {
    const { token } = options;
    return {
      kind: 'capabilityToken',
      sha256: 'file' in token ? sha256(tokenIn(token.file)) : Buffer.from(token.sha256, 'hex'),
    };
  }
  const { secretFile, issuer, audience, clockSkewSeconds } = options;
  const secret = Buffer.from(trimmedText('--ws-shared-secret-file', secretFile));
  if (secret.length < SECRET_BYTES_MIN)
    throw new ListenError(
      `--ws-shared-secret-file ${secretFile}: the secret has ${secret.length} bytes, and needs at least ${SECRET_BYTES_MIN}`,
    );
  return { kind: 'signedToken', secret, issuer, audience, clockSkewSeconds };
}

function tokenIn(file: string): string {
  const token = trimmedText('--ws-token-file', file);
  if (token === '') throw new ListenError(`--ws-token-file ${file}: the file is empty`);
  return token;
}

function trimmedText(option: string, file: string): string {
  let content: Buffer | null;
  try {
    content = readRegularFileSync(file, { bytesMax: FILE_BYTES_MAX })?.bytes ?? null;
  } catch (error) {
    throw new ListenError(
      `${option} ${file}: the file cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  if (content === null) throw new ListenError(`${option} ${file}: the file does not exist`);
  return content.toString('utf8').trim();
}
