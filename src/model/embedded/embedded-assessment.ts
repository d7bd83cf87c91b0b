import { messageText } from '../message-text.ts';
import type { ModelRequest } from '../model.ts';

/**
 * Commands that delete, leave the computer, take rights or run what they fetch, and the places of
 * keys.
 */
const RISKY =
  /\brm\s+-|\bsudo\b|\bsu\s|\b(?:curl|wget|nc|ncat|ssh|scp|rsync|ftp)\b|\b(?:mkfs|dd|shred)\b|\bgit\s+push\b|--force\b|\|\s*(?:ba|z|da)?sh\b|\beval\b|\.ssh\b|\.aws\b|\.env\b|\bchmod\b|\bchown\b/;

/** Whether the request is that of the guardian, which reviews an action. */
export function isReview({ clientMetadata }: ModelRequest): boolean {
  return clientMetadata?.['x-openai-subagent'] === 'guardian';
}

/** The answer to a review, by a list of words. It shows how reviews work, and is no protection. */
export function embeddedAssessment({ input }: ModelRequest): string {
  const last = input.at(-1);
  const found = RISKY.exec(last === undefined ? '' : messageText(last))?.[0].trim();
  const assessment =
    found === undefined
      ? {
          risk_level: 'low',
          user_authorization: 'medium',
          outcome: 'allow',
          rationale: 'The embedded model found no risky word in the action.',
        }
      : {
          risk_level: 'high',
          user_authorization: 'unknown',
          outcome: 'deny',
          rationale: `The embedded model denies every action with "${found}".`,
        };
  return JSON.stringify(assessment);
}
