import { isObject, type JsonObject, parsedJson } from '../../base/json-value.ts';
import { cutText } from '../../base/text/cut-text.ts';
import type { GuardianRiskLevel, GuardianUserAuthorization } from '../../protocol/generated/types.ts';

/** The guardian's answer about an action. An answer with the outcome only means a low risk, or a high one if it denies. */
export interface Assessment {
  outcome: 'allow' | 'deny';
  riskLevel: GuardianRiskLevel;
  userAuthorization: GuardianUserAuthorization;
  /** Null: it gives none. */
  rationale: string | null;
}

const RISK_LEVELS = ['low', 'medium', 'high', 'critical'] as const;
const AUTHORIZATIONS = ['unknown', 'low', 'medium', 'high'] as const;
/** The key of the outcome. An answer that has it twice says both. */
const OUTCOME_KEY = /(?<!\\)"outcome"\s*:/g;
/** The longest rationale that is kept, in UTF-16 code units. */
const RATIONALE_CHARS_MAX = 2_000;

/** The JSON Schema of the answer. The server also accepts an answer with the outcome only. */
export const ASSESSMENT_SCHEMA: JsonObject = {
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
 * Reads an answer. It must be one JSON object, possibly in a code block, and nothing else: JSON that the answer only quotes does not
 * count. Returns null if it is anything else, or if one of its values is not in the schema.
 */
export function readAssessment(text: string): Assessment | null {
  const [, fenced = text] = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/.exec(text) ?? [];
  const answer = parsedJson(fenced.trim());
  if (!isObject(answer) || (fenced.match(OUTCOME_KEY) ?? []).length !== 1) return null;
  const { outcome, rationale = null } = answer;
  const riskLevel = oneOf(RISK_LEVELS, answer.risk_level);
  const userAuthorization = oneOf(AUTHORIZATIONS, answer.user_authorization);
  if ((outcome !== 'allow' && outcome !== 'deny') || riskLevel === undefined || userAuthorization === undefined) return null;
  if (rationale !== null && typeof rationale !== 'string') return null;
  return {
    outcome,
    riskLevel: riskLevel ?? (outcome === 'allow' ? 'low' : 'high'),
    userAuthorization: userAuthorization ?? 'unknown',
    rationale: cutText(rationale?.trim() ?? '', RATIONALE_CHARS_MAX) || null,
  };
}

/** Null for an absent value, undefined for one that is not in the list. */
function oneOf<T extends string>(words: readonly T[], value: unknown): T | null | undefined {
  return value === undefined || value === null ? null : words.find((word) => word === value);
}
