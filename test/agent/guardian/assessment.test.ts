import { expect, test } from 'vitest';
import {
  ASSESSMENT_SCHEMA,
  mayPass,
  readAssessment,
} from '../../../src/agent/guardian/assessment.ts';
import { guardianInstructions } from '../../../src/instructions/guardian-instructions.ts';
import type {
  GuardianRiskLevel,
  GuardianUserAuthorization,
} from '../../../src/protocol/generated/types.ts';

const RISKS: GuardianRiskLevel[] = ['low', 'medium', 'high', 'critical'];
const AUTHORIZATIONS: GuardianUserAuthorization[] = ['unknown', 'low', 'medium', 'high'];

test('the table of the policy, for all pairs', () => {
  const table = RISKS.map((riskLevel) =>
    AUTHORIZATIONS.filter((userAuthorization) => mayPass({ riskLevel, userAuthorization })),
  );
  expect(table).toEqual([AUTHORIZATIONS, ['medium', 'high'], ['high'], []]);
});

test('the model is told this table', () => {
  const rules = guardianInstructions(null).split('# How to decide')[1] ?? '';
  expect(RISKS.map((risk) => new RegExp(`^- ${risk}: (.*?)[,.:]`, 'm').exec(rules)?.[1])).toEqual([
    'allow',
    'allow if user_authorization is medium or high',
    'allow only if user_authorization is high',
    'deny',
  ]);
});

const PAIRS = RISKS.flatMap((risk_level) =>
  AUTHORIZATIONS.map((user_authorization) => ({ risk_level, user_authorization })),
);
const ANSWERS = PAIRS.flatMap((rating) =>
  ['allow', 'deny'].map((outcome) => ({ ...rating, outcome, rationale: 'so' })),
);

test.each(ANSWERS)(
  '%j is read',
  ({ risk_level: riskLevel, user_authorization: userAuthorization, outcome, rationale }) => {
    const answer = {
      risk_level: riskLevel,
      user_authorization: userAuthorization,
      outcome,
      rationale,
    };
    expect(readAssessment(JSON.stringify(answer))).toEqual({
      outcome,
      riskLevel,
      userAuthorization,
      rationale,
    });
  },
);

const WRONG = Object.keys(ASSESSMENT_SCHEMA.properties).flatMap((key) =>
  [null, 5, true, {}, [], ...(key === 'rationale' ? [] : ['', 'other', 'Low'])].map((value) => ({
    [key]: value,
  })),
);

test.each(ANSWERS)(
  '%j is read without its rating, in part or as a whole',
  ({ outcome, ...rating }) => {
    const rated = { riskLevel: outcome === 'allow' ? 'low' : 'high', userAuthorization: 'unknown' };
    expect(readAssessment(JSON.stringify({ outcome }))).toEqual({
      outcome,
      ...rated,
      rationale: null,
    });
    const { risk_level, user_authorization, rationale } = rating;
    expect(readAssessment(JSON.stringify({ outcome, risk_level }))).toMatchObject({
      riskLevel: risk_level,
      userAuthorization: 'unknown',
    });
    expect(
      readAssessment(JSON.stringify({ outcome, user_authorization, rationale })),
    ).toMatchObject({
      ...rated,
      userAuthorization: user_authorization,
    });
    expect(readAssessment(JSON.stringify({ outcome, ...rating, rationale: '\ud800' }))).toBeNull();
  },
);

test.each([...WRONG, { outcome: undefined }, { more: 1 }])(
  'an answer with %j cannot be read',
  (change) => {
    for (const answer of ANSWERS)
      expect(readAssessment(JSON.stringify({ ...answer, ...change }))).toBeNull();
  },
);
