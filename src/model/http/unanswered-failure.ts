import type { Break, HttpRequest } from '../../base/http/http-exchange.ts';
import { PROXY_REFUSED } from '../../base/http/proxy-for.ts';
import { isUntrusted, TRUST_ADVICE } from '../../base/http/trusted-context.ts';
import { type ModelFailure, modelFailure } from '../model-failure.ts';
import type { Endpoint } from './endpoint.ts';
import { proxyAdvice, startAdvice } from './refusal-advice.ts';

const UNREACHED = { httpConnectionFailed: { httpStatusCode: null } };

/** The server has a certificate, but not for the host name of the URL. */
const WRONG_HOST = 'ERR_TLS_CERT_ALTNAME_INVALID';
const EXPIRED = 'CERT_HAS_EXPIRED';
const NOT_YET_VALID = 'CERT_NOT_YET_VALID';
const REVOKED = 'CERT_REVOKED';

const UNREACHABLE = new Set([
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'EADDRNOTAVAIL',
  'ENETDOWN',
]);
const CERTIFICATE =
  /CERT|^UNABLE_TO_|SELF_SIGNED|ERR_TLS|INVALID_CA|PATH_LENGTH_EXCEEDED|INVALID_PURPOSE/;

/** Makes the failure for an exchange that broke before a response. */
export function unansweredFailure(
  endpoint: Endpoint,
  why: Break,
  { connectMsMax, idleMsMax }: Pick<HttpRequest, 'connectMsMax' | 'idleMsMax'>,
): ModelFailure {
  const { label, url } = endpoint;
  if (why.broken === 'connect') {
    return modelFailure(
      `${label} cannot be reached: there was no connection within ${connectMsMax / 1_000} s, the limit set by connect_timeout_ms. Check base_url, and that this machine is online.${proxyNote(endpoint)}`,
      UNREACHED,
      'connection',
    );
  }
  if (why.broken !== 'network')
    return modelFailure(`${label} ${silence(idleMsMax)}`, UNREACHED, 'stream');
  const code = why.cause.code ?? '';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return modelFailure(
      `${label} cannot be reached: the host name ${url.hostname} cannot be resolved. Check base_url, and that this machine is online.${proxyNote(endpoint)}`,
      UNREACHED,
      'connection',
    );
  }
  if (code === 'ECONNREFUSED') {
    return modelFailure(
      `${label} cannot be reached: the connection was refused. ${startAdvice(endpoint.localServer)}${proxyNote(endpoint)}`,
      UNREACHED,
      'connection',
    );
  }
  if (UNREACHABLE.has(code)) {
    return modelFailure(
      `${label} cannot be reached (${code}). Check base_url, and that this machine is online.${proxyNote(endpoint)}`,
      UNREACHED,
      'connection',
    );
  }
  if (code.startsWith(PROXY_REFUSED)) return proxyFailure(endpoint, why.cause);
  if (CERTIFICATE.test(code)) {
    return modelFailure(`${label} ${certificateProblem(code, url.hostname)}`, UNREACHED, 'never');
  }
  if (code === 'EPROTO' || code === 'ERR_SSL_WRONG_VERSION_NUMBER') {
    return modelFailure(
      `${label} does not speak TLS as expected (${code}). Check whether base_url should begin with http instead of https.`,
      UNREACHED,
      'never',
    );
  }
  if (code.startsWith('HPE_')) {
    return modelFailure(
      `${label} answered with something that is not HTTP (${code}). Check base_url.`,
      UNREACHED,
      'never',
    );
  }
  return modelFailure(
    `${label} closed the connection without an answer${code === '' ? '' : ` (${code})`}.`,
    'other',
    'request',
  );
}

/** For a proxy that has not connected. */
function proxyFailure(endpoint: Endpoint, { code, message }: NodeJS.ErrnoException): ModelFailure {
  const wantsCredentials = code === `${PROXY_REFUSED}407`;
  const otherwise = ` Check the proxy in ${endpoint.proxy?.variable}, or set NO_PROXY to connect directly.`;
  const text = `${endpoint.label} cannot be reached: ${message}.`;
  return modelFailure(
    text + (wantsCredentials ? proxyAdvice(endpoint) : otherwise),
    UNREACHED,
    wantsCredentials ? 'never' : 'connection',
  );
}

/**
 * Makes the failure for a stream that ended (`why` is null) or broke before the response was
 * complete. `hasPart`: a part of the answer has come.
 */
export function brokenStreamFailure(
  endpoint: Endpoint,
  why: Break | null,
  { idleMsMax, hasPart }: { idleMsMax: number; hasPart: boolean },
): ModelFailure {
  const come = hasPart ? ' Only a part of the answer came.' : '';
  return modelFailure(`${endpoint.label} ${breakText(why, idleMsMax)}${come}`, 'other', 'stream');
}

function breakText(why: Break | null, idleMsMax: number): string {
  if (why === null) return 'ended its stream before the response was complete.';
  if (why.broken !== 'network') return silence(idleMsMax);
  return `broke off its stream before the response was complete (${why.cause.code ?? why.cause.message}).`;
}

function certificateProblem(code: string, host: string): string {
  if (code === WRONG_HOST)
    return `has a certificate for other host names, not for ${host} (${code}). Check the host name in base_url.`;
  if (code === EXPIRED)
    return `has an expired certificate (${code}). The provider must renew it. Check also the clock of this machine.`;
  if (code === NOT_YET_VALID)
    return `has a certificate that is not valid yet (${code}). Check the clock of this machine.`;
  if (code === REVOKED) return `has a revoked certificate (${code}). The provider must replace it.`;
  if (!isUntrusted(code))
    return `has a certificate that cannot be used (${code}). The provider must replace it.`;
  return `has a certificate that is not trusted (${code}). ${TRUST_ADVICE}`;
}

function proxyNote({ proxy }: Endpoint): string {
  return proxy === null
    ? ''
    : ` Requests go through the proxy in ${proxy.variable} (${proxy.url.origin}).`;
}

function silence(idleMsMax: number): string {
  return `was silent for ${idleMsMax / 1_000} s, the limit set by stream_idle_timeout_ms.`;
}
