import { cutText } from '../../base/text/cut-text.ts';
import type {
  GuardianRiskLevel,
  GuardianUserAuthorization,
} from '../../protocol/generated/types.ts';
import { readVerdict, type VerdictSchema } from '../aside/read-verdict.ts';

/**
 * The guardian's answer about an action. An answer with the outcome only means a low risk, or a
 * high one if it denies.
 */
export interface Assessment {
  outcome: 'allow' | 'deny';
  riskLevel: GuardianRiskLevel;
  userAuthorization: GuardianUserAuthorization;
  /** Null: it gives none. */
  rationale: string | null;
}

const RISK_LEVELS = ['low', 'medium', 'high', 'critical'] as const;
const AUTHORIZATIONS = ['unknown', 'low', 'medium', 'high'] as const;
/** An answer that is of the schema. */
interface Answer {
  risk_level: GuardianRiskLevel;
  user_authorization: GuardianUserAuthorization;
  outcome: Assessment['outcome'];
  rationale: string;
}

/** The longest rationale that is kept, in UTF-16 code units. */
const RATIONALE_CHARS_MAX = 2_000;

/**
 * The JSON Schema of the answer. The server also accepts an answer with the outcome only, as the
 * reference does.
 */
export const ASSESSMENT_SCHEMA: VerdictSchema = {
  type: 'object',
  properties: {
    risk_level: { type: 'string', enum: [...RISK_LEVELS] },
    user_authorization: { type: 'string', enum: [...AUTHORIZATIONS] },
    outcome: { type: 'string', enum: ['allow', 'deny'] },
    rationale: { type: 'string' },
  },
  required: ['risk_level', 'user_authorization', 'outcome', 'rationale'],
  additionalProperties: false,
};

/**
 * Reads an answer. Returns null if it is not one JSON object of the schema. Only the outcome is
 * required.
 */
export function readAssessment(text: string): Assessment | null {
  const answer = readVerdict(text, ASSESSMENT_SCHEMA, ['outcome']);
  if (answer === null) return null;
  const {
    outcome,
    risk_level: risk,
    user_authorization: authorization,
    rationale,
  } = answer as Partial<Answer> & Pick<Answer, 'outcome'>;
  return {
    outcome,
    riskLevel: risk ?? (outcome === 'allow' ? 'low' : 'high'),
    userAuthorization: authorization ?? 'unknown',
    rationale: cutText(rationale?.trim() ?? '', RATIONALE_CHARS_MAX) || null,
  };
}

/**
 * Whether the guardian's policy lets an action pass with this risk and authorization: its table,
 * which no answer overrides.
 */
export function mayPass({
  riskLevel,
  userAuthorization,
}: Pick<Assessment, 'riskLevel' | 'userAuthorization'>): boolean {
  return PASSES[riskLevel].includes(userAuthorization);
}

const PASSES: Readonly<Record<GuardianRiskLevel, readonly GuardianUserAuthorization[]>> = {
  low: AUTHORIZATIONS,
  medium: ['medium', 'high'],
  high: ['high'],
  critical: [],
};
