import { isObject } from '../base/json-value.ts';
import { mayAsk } from '../policy/permissions/may-ask.ts';
import { answeredPermissions, commonPermissions, PERMISSIONS_PARAMETER, shownPermissions } from '../policy/permissions/read-permissions.ts';
import type { GrantedPermissions } from '../policy/permissions/sandbox-bounds.ts';
import type { PermissionGrantScope, PermissionsRequestApprovalResponse } from '../protocol/generated/types.ts';
import type { Tool, ToolContext, ToolResult } from './tool.ts';
import { type PermissionPaths, realPermissions, unprotected, wantedPermissions } from './wanted-permissions.ts';

const NOTHING: GrantedPermissions = { read: [], write: [], network: false };

export interface RequestPermissionsOptions extends Omit<PermissionPaths, 'cwd'> {
  now: () => number;
}

/** `request_permissions`: asks the user to widen the sandbox of later commands. What is granted is never more than was asked for. */
export function requestPermissions(options: RequestPermissionsOptions): Tool {
  return {
    spec: {
      type: 'function',
      name: 'request_permissions',
      description:
        'Asks the user to let later commands read or write more files, or reach the network, while they stay in the sandbox. The user may grant all of it, a part or nothing, for this turn or for the session: go by the answer. Relative paths are taken from the working folder.',
      parameters: {
        type: 'object',
        properties: {
          reason: { type: 'string', description: 'Why it is needed, in a few words for the user.' },
          permissions: PERMISSIONS_PARAMETER,
        },
        required: ['permissions'],
        additionalProperties: false,
      },
    },

    async run(args, context, signal) {
      const { settings } = context;
      const asked = wantedPermissions(isObject(args) ? args.permissions : undefined, { ...options, cwd: settings.cwd });
      if (typeof asked === 'string') return { output: `request_permissions ${asked}.`, success: false };
      if (!mayAsk(settings.approvalPolicy, 'request_permissions'))
        return told(NOTHING, {
          scope: 'turn',
          note: 'Refused without asking: the approval policy does not allow it. Work within the sandbox.',
        });
      const reason = isObject(args) && typeof args.reason === 'string' && args.reason.trim() !== '' ? args.reason : null;
      const answer = await ask(asked, { context, reason, now: options.now() }, signal);
      if (answer === null) return told(NOTHING, { scope: 'turn' });
      const answered = realPermissions(answeredPermissions(answer.permissions), settings.cwd);
      const granted = unprotected(commonPermissions(asked, answered), options.home);
      const scope = answer.scope ?? 'turn';
      if (granted.network || granted.read.length + granted.write.length > 0) context.approvals.grants.grant(granted, scope);
      return told(granted, { scope });
    },
  };
}

/** Null: nothing is granted. */
async function ask(
  asked: GrantedPermissions,
  { context, reason, now }: { context: ToolContext; reason: string | null; now: number },
  signal: AbortSignal,
): Promise<PermissionsRequestApprovalResponse | null> {
  const { threadId, turnId, callId, settings, approvals } = context;
  const answer = await approvals.ask(
    {
      method: 'item/permissions/requestApproval',
      params: {
        threadId,
        turnId,
        itemId: callId,
        environmentId: 'local',
        startedAtMs: now,
        cwd: settings.cwd,
        reason,
        permissions: shownPermissions(asked),
      },
    },
    signal,
  );
  return answer.type === 'result' ? answer.result : null;
}

function told({ read, write, network }: GrantedPermissions, more: { scope: PermissionGrantScope; note?: string }): ToolResult {
  const files = { ...(read.length > 0 && { read }), ...(write.length > 0 && { write }) };
  const permissions = {
    network: network ? { enabled: true } : null,
    file_system: read.length + write.length > 0 ? files : null,
  };
  return { output: JSON.stringify({ permissions, ...more }), success: true };
}
