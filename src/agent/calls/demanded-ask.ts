import type { ServerRequests } from '../../protocol/generated/types.ts';
import type { Ask, ClientRequest } from '../../tools/action.ts';

/** A question of policy that a part demands too: the reviewer also reads why. */
export function demandedAsk(ask: Ask, demand: string): Ask {
  return {
    ...ask,
    async describe() {
      const planned = await ask.describe();
      const reason = planned.claims?.reason;
      return {
        ...planned,
        claims: {
          ...planned.claims,
          reason: both(typeof reason === 'string' ? reason : null, demand),
        },
      };
    },
    askPerson: (askClients) =>
      ask.askPerson((request, withdrawn) => askClients(withReason(request, demand), withdrawn)),
  };
}

/** One text of two reasons, of which there may be only one. */
export function both(reason: string | null, demand: string): string {
  return reason === null ? demand : `${reason} ${demand}`;
}

/** The request with a further reason, in the field that clients show. */
function withReason<Method extends keyof ServerRequests>(
  request: ClientRequest<Method>,
  demand: string,
): ClientRequest<Method> {
  const { params } = request;
  if ('reason' in params)
    return { ...request, params: { ...params, reason: both(params.reason, demand) } };
  if (!('message' in params)) return request;
  const meta = { ...(params._meta as object | null), reason: demand };
  return { ...request, params: { ...params, _meta: meta, message: both(params.message, demand) } };
}
