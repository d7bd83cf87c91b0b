import { whyNotWritten } from '../../files/why-not-written.ts';
import { RpcError } from '../../protocol/rpc-error.ts';
import { StoreError } from '../../store/store-error.ts';
import { type Outcome, SourceError, type Taken, TakenError } from './found.ts';

/** Takes one after another. One that cannot be taken is refused, and the others go on. */
export async function takeEach(
  names: readonly string[],
  take: (name: string) => Promise<Taken>,
): Promise<Outcome> {
  const outcome: Outcome = { taken: [], refused: [] };
  for (const name of names) {
    try {
      outcome.taken.push(await take(name));
    } catch (error) {
      outcome.refused.push({ source: name, message: whyRefused(error), failureStage: 'write' });
    }
  }
  return outcome;
}

/** The reason in an error that is expected when something is written. Throws any other one. */
export function whyRefused(error: unknown): string {
  if (
    error instanceof RpcError ||
    error instanceof TakenError ||
    error instanceof SourceError ||
    error instanceof StoreError
  )
    return error.message;
  const why = whyNotWritten(error);
  if (why === null) throw error;
  return why;
}
