import { errors, jwtVerify } from 'jose';

/** The rules for JSON Web Tokens that are signed with a shared secret. */
export interface WebTokenRules {
  secret: Uint8Array;
  /** Null: any issuer. */
  issuer: string | null;
  /** Null: any audience. */
  audience: string | null;
  /** How far the clocks of both sides may differ, in seconds. */
  clockSkewSeconds: number;
}

const INVALID = 'invalid websocket jwt';
const BY_CLAIM: Record<string, string> = {
  nbf: 'websocket jwt is not valid yet',
  iss: 'websocket jwt issuer mismatch',
  aud: 'websocket jwt audience mismatch',
};

/** The problem with a token, in the wire's words; null: it is valid now. */
export async function webTokenProblem(
  token: string,
  { secret, issuer, audience, clockSkewSeconds }: WebTokenRules,
  nowMs: number,
): Promise<string | null> {
  try {
    await jwtVerify(token, secret, {
      algorithms: ['HS256'],
      requiredClaims: ['exp'],
      clockTolerance: clockSkewSeconds,
      currentDate: new Date(nowMs),
      ...(issuer === null ? {} : { issuer }),
      ...(audience === null ? {} : { audience }),
    });
    return null;
  } catch (error) {
    if (error instanceof errors.JWTExpired) return 'expired websocket jwt';
    if (error instanceof errors.JWTClaimValidationFailed) return BY_CLAIM[error.claim] ?? INVALID;
    if (error instanceof errors.JOSEError) return INVALID;
    throw error;
  }
}
