import type { JsonObject } from '../../base/json-value.ts';
import { hookCall, justificationOf } from '../../hooks/hook-call.ts';
import { hasBounds } from '../../policy/permissions/sandbox-bounds.ts';
import type { GuardianApprovalReviewAction } from '../../protocol/generated/types.ts';
import type { Ask } from '../../tools/action.ts';
import type { AskedApproval, PendingCall } from '../turn/turn-events.ts';
import type { TurnContext } from '../turn/turn-part.ts';

/** The facts of a request for approval, and the names that matchers are compared with. */
export async function approvalFacts(
  { ask, call, demand }: AskedApproval & { call: PendingCall },
  turn: TurnContext,
): Promise<{ facts: JsonObject; names: readonly string[] }> {
  const { name, names, input } = hookCall(call);
  const { shown } = await ask.describe();
  const description =
    shown.type === 'networkAccess'
      ? `network access to ${shown.host}`
      : (ask.beyondCall ?? demand ?? justificationOf(call));
  const described = description === null ? {} : { description };
  const isOwn = call.hookForm === 'command' || call.hookForm === 'patch';
  // The arguments of other tools may have a description of their own.
  const asked = isOwn
    ? { tool_input: { ...input, ...described } }
    : { tool_input: input, ...described };
  return { facts: { tool_name: name, ...asked, ...purpose(ask, shown, turn) }, names };
}

/** The purpose of the approval. The model does not write this. */
function purpose(
  { permit, beyondCall }: Ask,
  shown: GuardianApprovalReviewAction,
  { settings }: TurnContext,
): JsonObject {
  if (beyondCall !== undefined) return { approval: 'sampling' };
  switch (shown.type) {
    case 'command':
    case 'execve':
      return {
        approval:
          permit.sandboxed || !hasBounds(settings.sandboxPolicy) ? 'command' : 'outside_sandbox',
      };
    case 'networkAccess':
      return { approval: 'network', host: shown.host };
    case 'writeStdin':
      return { approval: 'stdin' };
    case 'applyPatch':
      return { approval: 'patch' };
    case 'mcpToolCall':
      return { approval: 'tool' };
    case 'requestPermissions':
      return { approval: 'permissions' };
    default:
      return shown satisfies never;
  }
}
