import { type ModelFailure, modelFailure } from '../model-failure.ts';
import type { Endpoint } from './endpoint.ts';
import type { Break } from './http-exchange.ts';
import { startAdvice } from './refusal-advice.ts';

const UNREACHED = { httpConnectionFailed: { httpStatusCode: null } };

const UNREACHABLE = new Set(['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'EADDRNOTAVAIL', 'ENETDOWN']);
const CERTIFICATE = /CERT|^UNABLE_TO_|SELF_SIGNED|ERR_TLS/;

/** The failure behind an exchange that broke before there was an answer. */
export function unansweredFailure(endpoint: Endpoint, why: Break, idleMsMax: number): ModelFailure {
  const { label, url } = endpoint;
  if (why.broken !== 'network') return modelFailure(`${label} ${silence(idleMsMax)}`, UNREACHED, 'stream');
  const code = why.cause.code ?? '';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return modelFailure(
      `${label} cannot be reached: the name ${url.hostname} does not resolve. Check base_url, and that this machine is online.${proxyNote(endpoint)}`,
      UNREACHED,
      'connection',
    );
  }
  if (code === 'ECONNREFUSED') {
    return modelFailure(
      `${label} cannot be reached: the connection is refused. ${startAdvice(endpoint.localServer)}${proxyNote(endpoint)}`,
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
  if (CERTIFICATE.test(code)) {
    return modelFailure(
      `${label} shows a certificate that is not trusted (${code}). NODE_EXTRA_CA_CERTS can name a file of further authorities.`,
      UNREACHED,
      'never',
    );
  }
  if (code === 'EPROTO' || code === 'ERR_SSL_WRONG_VERSION_NUMBER') {
    return modelFailure(
      `${label} does not speak TLS as expected (${code}). Is base_url https where it should be http?`,
      UNREACHED,
      'never',
    );
  }
  if (code.startsWith('HPE_')) {
    return modelFailure(`${label} answered with something that is not HTTP (${code}). Check base_url.`, UNREACHED, 'never');
  }
  return modelFailure(`${label} closed the connection without an answer${code === '' ? '' : ` (${code})`}.`, 'other', 'request');
}

/** The failure of a stream that broke before it said that the response is complete; `why` null: it just ended. */
export function brokenStreamFailure(endpoint: Endpoint, why: Break | null, idleMsMax: number): ModelFailure {
  if (why === null) return modelFailure(`${endpoint.label} ended its stream before the response was complete.`, 'other', 'stream');
  if (why.broken !== 'network') return modelFailure(`${endpoint.label} ${silence(idleMsMax)}`, 'other', 'stream');
  return modelFailure(
    `${endpoint.label} cut its stream before the response was complete (${why.cause.code ?? why.cause.message}).`,
    'other',
    'stream',
  );
}

function proxyNote({ unusedProxy }: Endpoint): string {
  return unusedProxy === null ? '' : ` The proxy in ${unusedProxy} is not asked: connections are direct.`;
}

function silence(idleMsMax: number): string {
  return `was silent for ${idleMsMax / 1_000} s, the longest that stream_idle_timeout_ms allows.`;
}
