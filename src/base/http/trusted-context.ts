import type { SecureContext } from 'node:tls';
import type { Env } from '../env.ts';
import { readRegularFile } from '../files/read-regular-file.ts';
import { isOwnFailure } from '../paths/stat-of.ts';

/** Larger than every system's file of certificate authorities. */
const FILE_BYTES_MAX = 16 * 1024 * 1024;

export interface TrustDeps {
  env: Env;
  log: { warn(fields: object, text: string): void };
}

/** The advice about a certificate that no trusted authority has issued. */
export const TRUST_ADVICE =
  'Set NODE_EXTRA_CA_CERTS or SSL_CERT_FILE to a file with the certificate of its authority.';

/** Whether an error with this code says that no trusted authority has issued the certificate. */
export function isUntrusted(code: string): boolean {
  return /SELF_SIGNED|UNABLE_TO_GET_ISSUER|UNABLE_TO_VERIFY|CERT_UNTRUSTED|INVALID_CA|CERT_REJECTED/.test(
    code,
  );
}

/**
 * Returns the TLS settings with which the certificate authorities in the file that SSL_CERT_FILE
 * names are trusted, beside those of Node and of NODE_EXTRA_CA_CERTS. Returns null if there is no
 * such file: then Node's own settings apply. Rejects with the system's error if this process has no
 * means to read it, such as file descriptors.
 */
export async function trustedContext({ env, log }: TrustDeps): Promise<SecureContext | null> {
  const file = await certificates('SSL_CERT_FILE', { env, log });
  if (file === null) return null;
  const tls = await import('node:tls');
  // Node adds the file of NODE_EXTRA_CA_CERTS only to the authorities that it uses if none are
  // given.
  const extra = await certificates('NODE_EXTRA_CA_CERTS', { env, log });
  try {
    return tls.createSecureContext({
      ca: [...tls.rootCertificates, ...(extra === null ? [] : [extra]), file],
    });
  } catch (error) {
    log.warn(
      { err: error },
      'the file that SSL_CERT_FILE names has no valid certificates; it is not used',
    );
    return null;
  }
}

/**
 * Returns the content of the file that the variable names; null if it names none that can be read.
 */
async function certificates(variable: string, { env, log }: TrustDeps): Promise<string | null> {
  const path = env[variable] ?? '';
  if (path === '') return null;
  try {
    const content = await readRegularFile(path, { bytesMax: FILE_BYTES_MAX });
    if (content !== null) return content.bytes.toString();
    log.warn({ path }, `there is no file at the path in ${variable}; it is not used`);
  } catch (error) {
    if (isOwnFailure(error)) throw error;
    log.warn(
      { err: error, path },
      `the file that ${variable} names cannot be read; it is not used`,
    );
  }
  return null;
}
