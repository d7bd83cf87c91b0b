import { isObject } from '../base/json-value.ts';
import { mayAsk } from '../policy/approvals/may-ask.ts';
import {
  answeredPermissions,
  clientPermissions,
  commonPermissions,
  PERMISSIONS_PARAMETER,
} from '../policy/permissions/read-permissions.ts';
import type { GrantedPermissions } from '../policy/permissions/sandbox-bounds.ts';
import type { PermissionGrantScope } from '../protocol/generated/types.ts';
import {
  type Action,
  type ActionOutcome,
  type Allowed,
  type Ask,
  failed,
  UNCONFINED,
} from './action.ts';
import { refusalText, unanswered } from './denial.ts';
import type { CallContext, Tool } from './tool.ts';
import {
  type PermissionPaths,
  realPermissions,
  unprotected,
  wantedPermissions,
} from './wanted-permissions.ts';

const NOTHING: GrantedPermissions = { read: [], write: [], network: false };
const NOT_ASKED =
  'Refused: the approval policy does not allow the server to ask the user. Work within the sandbox.';

interface RequestPermissionsOptions extends Omit<PermissionPaths, 'cwd'> {
  now: () => number;
}

/**
 * `request_permissions`: asks the user for more permissions for later commands. Grants at most what
 * the model asked for.
 */
export function requestPermissions(deps: RequestPermissionsOptions): Tool {
  return {
    spec: {
      type: 'function',
      name: 'request_permissions',
      description:
        'Asks the user to allow later commands to read or write more files, or to use the network, inside the sandbox. The user can grant all, some or none of these permissions, for this turn or for the session. Use only the permissions that the result lists. Relative paths start from the working directory.',
      parameters: {
        type: 'object',
        properties: {
          reason: {
            type: 'string',
            description: 'Why you need the permissions, in a few words for the user.',
          },
          permissions: PERMISSIONS_PARAMETER,
        },
        required: ['permissions'],
        additionalProperties: false,
      },
    },

    async prepare(args, context) {
      const asked = wantedPermissions(isObject(args) ? args.permissions : undefined, {
        ...deps,
        cwd: context.settings.cwd,
      });
      if (typeof asked === 'string') return failed(`request_permissions ${asked}.`);
      const reason =
        isObject(args) && typeof args.reason === 'string' && args.reason.trim() !== ''
          ? args.reason
          : null;
      return permissionsAction({ asked, reason }, context, deps);
    },
  };
}

interface PermissionsRequest {
  asked: GrantedPermissions;
  /** For the user. Null: the model gave no reason. */
  reason: string | null;
}

function permissionsAction(
  request: PermissionsRequest,
  context: CallContext,
  deps: RequestPermissionsOptions,
): Action {
  return {
    kind: 'permissions',
    item: null,
    judge: ({ approvalPolicy }) =>
      mayAsk(approvalPolicy, 'request_permissions')
        ? { ask: permissionsAsk(request, context, deps) }
        : { refuse: NOT_ASKED },
    perform: async ({ granted }) =>
      permissionsOutcome(granted?.permissions ?? NOTHING, { scope: granted?.scope ?? 'turn' }),
    refused: (denial) => permissionsOutcome(NOTHING, { scope: 'turn', note: refusalText(denial) }),
  };
}

function permissionsAsk(
  { asked, reason }: PermissionsRequest,
  context: CallContext,
  { home, now }: RequestPermissionsOptions,
): Ask {
  const { threadId, turnId, callId, settings, grants } = context;
  const granting = (permissions: GrantedPermissions, scope: PermissionGrantScope): Allowed => ({
    allow: { ...UNCONFINED, granted: { permissions, scope } },
    scope,
  });
  let isStrict = false;
  return {
    permit: granting(unprotected(asked, home), 'turn').allow,
    describe: () => {
      const { cwd } = settings;
      const permissions = clientPermissions(asked);
      const planned = { read: [...asked.read], write: [...asked.write], network: asked.network };
      return {
        targetItemId: callId,
        shown: { type: 'requestPermissions', reason, permissions },
        planned: {
          tool: 'request_permissions',
          cwd,
          validFor: 'the later commands of this turn',
          ...planned,
        },
        claims: { reason },
      };
    },
    async askPerson(ask) {
      const params = {
        threadId,
        turnId,
        itemId: callId,
        environmentId: 'local',
        startedAtMs: now(),
        cwd: settings.cwd,
        reason,
      };
      const answer = await ask({
        method: 'item/permissions/requestApproval',
        params: { ...params, permissions: clientPermissions(asked) },
      });
      if (answer.type !== 'result') return unanswered(answer);
      isStrict = answer.result.strictAutoReview === true;
      const answered = realPermissions(
        answeredPermissions(answer.result.permissions),
        settings.cwd,
      );
      return granting(
        unprotected(commonPermissions(asked, answered), home),
        answer.result.scope ?? 'turn',
      );
    },
    async keep({ allow: { granted } }, host) {
      if (isStrict) {
        grants.requireReviews();
        await host.emit({
          method: 'autoApprovalReview/strictReviewRequired',
          params: { threadId, turnId, startedAtMs: now() },
        });
      }
      if (granted === undefined) return;
      const { permissions, scope } = granted;
      if (permissions.network || permissions.read.length + permissions.write.length > 0)
        grants.grant(permissions, scope);
    },
  };
}

function permissionsOutcome(
  { read, write, network }: GrantedPermissions,
  more: { scope: PermissionGrantScope; note?: string },
): ActionOutcome {
  const files = { ...(read.length > 0 && { read }), ...(write.length > 0 && { write }) };
  const permissions = {
    network: network ? { enabled: true } : null,
    file_system: read.length + write.length > 0 ? files : null,
  };
  return { output: JSON.stringify({ permissions, ...more }), success: true };
}
