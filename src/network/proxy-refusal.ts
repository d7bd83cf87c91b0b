import type { TargetRefusal } from '../policy/network/judge-target.ts';

/**
 * Why a proxy does not make a connection. By policy: a `TargetRefusal`, or a person or the guardian
 * said no (`declined`). Otherwise: the request is invalid, it lacks the credential, the host has no
 * address, it cannot be reached, it refused the connection, it did not answer in time, or the proxy
 * has too much to do.
 */
export type RefusalCode =
  | TargetRefusal
  | 'declined'
  | 'invalid'
  | 'credential'
  | 'unresolved'
  | 'unreachable'
  | 'connectionRefused'
  | 'timeout'
  | 'busy';

/** The client of a proxy gets the message as the text of the response. */
export class ProxyRefusal extends Error {
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

interface RefusalForm {
  status: number;
  /**
   * The value of the header `x-proxy-error`, by which programs recognize a refusal of the policy.
   */
  header?: string;
  /** The reply field of SOCKS5. */
  socks: number;
}

const [GENERAL, NOT_ALLOWED, HOST_UNREACHABLE, REFUSED] = [1, 2, 4, 5];

/** The texts and codes of refusals for programs, in each protocol. */
export const REFUSAL_FORMS: Readonly<Record<RefusalCode, RefusalForm>> = {
  denied: { status: 403, header: 'blocked-by-denylist', socks: NOT_ALLOWED },
  notAllowed: { status: 403, header: 'blocked-by-allowlist', socks: NOT_ALLOWED },
  local: { status: 403, header: 'blocked-by-policy', socks: NOT_ALLOWED },
  mode: { status: 403, header: 'blocked-by-method-policy', socks: NOT_ALLOWED },
  declined: { status: 403, header: 'blocked-by-policy', socks: NOT_ALLOWED },
  invalid: { status: 400, socks: GENERAL },
  credential: { status: 407, socks: NOT_ALLOWED },
  unresolved: { status: 502, socks: HOST_UNREACHABLE },
  unreachable: { status: 502, socks: HOST_UNREACHABLE },
  connectionRefused: { status: 502, socks: REFUSED },
  timeout: { status: 504, socks: HOST_UNREACHABLE },
  busy: { status: 503, socks: GENERAL },
};
