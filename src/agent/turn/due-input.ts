import type { TurnStartParams } from '../../protocol/generated/types.ts';
import type { StepAddition } from '../outbox/step.ts';

/** Input that has waited, and what is stored and announced with the start of its turn. */
export interface TakenInput {
  params: TurnStartParams;
  step: StepAddition;
}

/**
 * A turn that a part wants to begin with input that has waited. It may begin while no client
 * follows the thread.
 */
export interface DueInput {
  /** Lets `begin` begin the turn, and nobody else take the input. Null: there is none any more. */
  take<T>(begin: (taken: TakenInput) => Promise<T>): Promise<T | null>;
}
