import type { AskForApproval } from '../../protocol/generated/types.ts';

type Granular = Extract<AskForApproval, { granular: unknown }>['granular'];

/** The kinds of approval that a granular approval policy allows or refuses one by one. */
export type ApprovalKind = keyof Granular;

/**
 * Whether the approval policy allows the server to ask for this kind of approval. `never` allows none, the other named policies
 * allow all. A granular policy allows the kinds that it sets to true.
 */
export function mayAsk(policy: AskForApproval, kind: ApprovalKind): boolean {
  return typeof policy === 'string' ? policy !== 'never' : policy.granular[kind] === true;
}
