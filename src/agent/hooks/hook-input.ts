import { access } from 'node:fs/promises';
import type { JsonObject } from '../../base/json-value.ts';
import { hookEvent } from '../../config/hooks/hook-events.ts';
import type { HookEventName } from '../../protocol/generated/types.ts';
import { spawnSource } from '../../store/spawn-source.ts';
import type { ThreadRecord, ThreadSettings } from '../../store/thread-record.ts';
import type { EndedResponse } from '../turn/turn-part.ts';

interface Occasion {
  record: ThreadRecord;
  /** The settings of the turn; of the thread if none runs. */
  settings: ThreadSettings;
  /** Null: no turn runs. */
  turnId: string | null;
}

/** The role of an agent without a role, as hooks see it. */
const DEFAULT_ROLE = 'default';

/** The role of the agent that the thread is; null if it is no agent. */
export function agentType({ source }: ThreadRecord): string | null {
  const spawned = spawnSource(source);
  return spawned === null ? null : (spawned.agent_role ?? DEFAULT_ROLE);
}

/** The input of a hook: the facts of every event, and those of this one. */
export async function hookInput(
  name: HookEventName,
  { record, settings, turnId }: Occasion,
  facts: JsonObject,
): Promise<JsonObject> {
  const role = agentType(record);
  const { path } = record;
  // There is a transcript only if the thread was imported from one, or has been exported.
  const transcript = path !== null && (await isThere(path)) ? path : null;
  return {
    session_id: record.sessionId,
    ...(turnId === null ? {} : { turn_id: turnId }),
    ...(role === null ? {} : { agent_id: record.id, agent_type: role }),
    transcript_path: transcript,
    cwd: settings.cwd,
    hook_event_name: hookEvent(name).label,
    model: settings.model,
    permission_mode: permissionMode(settings),
    ...facts,
  };
}

/** The facts of a response that has ended. */
export function responseFacts({ status, error, usage }: EndedResponse): JsonObject {
  const counted = usage && {
    input_tokens: usage.inputTokens,
    cached_input_tokens: usage.cachedInputTokens,
    output_tokens: usage.outputTokens,
    reasoning_output_tokens: usage.reasoningOutputTokens,
    total_tokens: usage.totalTokens,
  };
  return { status, error: error?.message ?? null, token_usage: counted };
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function permissionMode({ collaborationMode, approvalPolicy }: ThreadSettings): string {
  if (collaborationMode.mode === 'plan') return 'plan';
  return approvalPolicy === 'never' ? 'bypassPermissions' : 'default';
}
