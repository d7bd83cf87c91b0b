import type { NewThread, ThreadRequest } from '../../agent/threads/new-thread.ts';
import type { JsonObject } from '../../base/json-value.ts';
import type {
  ThreadForkParams,
  ThreadResumeParams,
  ThreadStartParams,
} from '../../protocol/generated/types.ts';
import { invalidParams } from '../../protocol/rpc-error.ts';
import { checkRequestedSandbox } from '../requested/check-requested-sandbox.ts';
import type { Caller } from '../requested/method.ts';
import { requestedModel } from '../requested/requested-model.ts';
import { requestedTools } from '../requested/requested-tools.ts';
import { withEnvironment } from '../requested/with-environment.ts';

/** The settings that the params ask for. Throws if the params contradict each other. */
export function threadRequest(
  given: ThreadStartParams | ThreadResumeParams | ThreadForkParams,
  caller: Caller,
): ThreadRequest {
  const params = withEnvironment(given);
  checkRequestedSandbox(params, 'sandbox');
  const {
    approvalPolicy,
    approvalsReviewer,
    baseInstructions,
    cwd,
    developerInstructions,
    modelProvider,
    serviceTier,
  } = params;
  const named = {
    approvalPolicy,
    approvalsReviewer,
    baseInstructions,
    cwd,
    developerInstructions,
    model: requestedModel(params),
    modelProvider,
    permissions: params.permissions,
    runtimeWorkspaceRoots: params.runtimeWorkspaceRoots,
    sandbox: params.sandbox,
    serviceTier,
  };
  const personality = 'personality' in params ? params.personality : null;
  const multiAgentMode = 'multiAgentMode' in params ? params.multiAgentMode : null;
  const environments = 'environments' in params ? params.environments : null;
  return {
    overrides: { ...named, personality, multiAgentMode, environments },
    config: (params.config ?? null) as JsonObject | null,
    knowsModes: caller.experimentalApi,
  };
}

/**
 * The thread that `thread/start` or `thread/fork` asks for. Throws if the params are invalid or
 * contradict each other.
 */
export function newThreadRequest(
  params: ThreadStartParams | ThreadForkParams,
  caller: Caller,
): NewThread {
  if (params.model?.trim() === '')
    throw invalidParams('params.model must not be empty: leave it out for the default');
  return {
    ...threadRequest(params, caller),
    ephemeral: params.ephemeral ?? false,
    origin: ('sessionStartSource' in params ? params.sessionStartSource : null) ?? 'startup',
    threadSource: params.threadSource ?? null,
    daybreakEnabled: ('daybreakEnabled' in params ? params.daybreakEnabled : null) ?? null,
    clientTools: 'dynamicTools' in params ? requestedTools(params.dynamicTools) : null,
    originator: caller.client?.clientInfo.name ?? null,
  };
}
