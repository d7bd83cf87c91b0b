import { createHash, timingSafeEqual } from 'node:crypto';
import type { WebTokenRules } from './web-token-problem.ts';

/** How clients prove that they may connect. */
export type BearerRules =
  /** A token whose SHA-256 is this. */
  { kind: 'capabilityToken'; sha256: Buffer } | ({ kind: 'signedToken' } & WebTokenRules);

/** The wire's words for what is wrong with the header, as in Codex. */
const MISSING = 'missing websocket bearer token';
const MALFORMED = 'invalid authorization header';
const WRONG = 'invalid websocket bearer token';

/**
 * The problem with the value of an Authorization header; null: its token is valid now. Compares
 * secrets in constant time.
 */
export async function bearerProblem(
  header: string | undefined,
  rules: BearerRules,
  nowMs: number,
): Promise<string | null> {
  if (header === undefined) return MISSING;
  const token = /^Bearer +([^\s]+) *$/i.exec(header)?.[1];
  if (token === undefined) return MALFORMED;
  if (rules.kind === 'capabilityToken')
    return timingSafeEqual(sha256(token), rules.sha256) ? null : WRONG;
  const { webTokenProblem } = await import('./web-token-problem.ts');
  return webTokenProblem(token, rules, nowMs);
}

/** The SHA-256 of a text. */
export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
