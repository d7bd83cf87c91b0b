import type { JsonValue } from '../../../base/json-value.ts';
import { ConfigError } from '../../../config/toml/config-error.ts';
import type { UntimedItem } from '../../../protocol/generated/types.ts';
import { RpcError } from '../../../protocol/rpc-error.ts';
import { StoreError } from '../../../store/store-error.ts';
import {
  type Action,
  type ActionHost,
  type ActionOutcome,
  failed,
  UNCONFINED,
} from '../../../tools/action.ts';
import { refusalText } from '../../../tools/denial.ts';
import type { CallContext } from '../../../tools/tool.ts';
import type { AgentState } from '../../lineage/agent-state.ts';
import { AgentRefused } from '../../lineage/agent-tree.ts';
import { shownState } from '../shown-state.ts';

export type CollabItem = Extract<UntimedItem, { type: 'collabAgentToolCall' }>;

/** A call that concerns agents, as clients see it. */
type Shown = Pick<CollabItem, 'tool'> &
  Partial<Pick<CollabItem, 'receiverThreadIds' | 'prompt' | 'model' | 'reasoningEffort'>>;

/** The states of agents now, by their ids. */
type States = (agentIds: readonly string[]) => Promise<ReadonlyMap<string, AgentState>>;

/** The result of such a call. */
export interface Collaborated {
  output: JsonValue;
  /** The fields of the item that are known now. */
  shown?: Partial<Pick<CollabItem, 'receiverThreadIds' | 'model' | 'reasoningEffort'>>;
  states?: ReadonlyMap<string, AgentState>;
  /** Whether the item shows a failure, though the model gets the output. Default: false. */
  isFailed?: boolean;
}

/**
 * An action that starts, reaches or ends agents, with its item. The agents' own actions are judged
 * in their threads.
 */
export function collabAction(
  { threadId, itemId }: CallContext,
  { statesOf, ...shown }: Shown & { statesOf?: States },
  work: (host: ActionHost) => Promise<Collaborated>,
): Action {
  const item: CollabItem = {
    type: 'collabAgentToolCall',
    id: itemId,
    status: 'inProgress',
    senderThreadId: threadId,
    receiverThreadIds: [],
    prompt: null,
    model: null,
    reasoningEffort: null,
    agentsStates: {},
    ...shown,
  };
  const unsuccessful = (output: string): ActionOutcome => ({
    ...failed(output),
    item: { ...item, status: 'failed' },
  });
  return {
    kind: 'other',
    item,
    judge: () => ({ run: UNCONFINED }),
    perform: async (_permit, _open, host) => {
      try {
        const { output, shown: known, states, isFailed = false } = await work(host);
        const agentsStates = shownStates(states ?? null);
        const status = isFailed ? 'failed' : 'completed';
        return {
          output: JSON.stringify(output),
          success: true,
          item: { ...item, ...known, status, agentsStates },
        };
      } catch (error) {
        const isExpected = [AgentRefused, ConfigError, RpcError, StoreError].some(
          (kind) => error instanceof kind,
        );
        if (!isExpected || !(error instanceof Error)) throw error;
        const states = await statesOf?.(item.receiverThreadIds).catch(() => null);
        return {
          ...failed(error.message),
          item: { ...item, status: 'failed', agentsStates: shownStates(states ?? null) },
        };
      }
    },
    refused: (denial) => unsuccessful(refusalText(denial)),
  };
}

function shownStates(states: ReadonlyMap<string, AgentState> | null): CollabItem['agentsStates'] {
  return Object.fromEntries([...(states ?? [])].map(([id, state]) => [id, shownState(state)]));
}
