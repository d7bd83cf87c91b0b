import type { Clock } from '../../base/clock.ts';
import type { JsonValue } from '../../base/json-value.ts';
import { isRemoteImage } from '../../model/pictures/image-type.ts';
import type { Permit } from '../../policy/permissions/permit.ts';
import type { Answer } from '../../protocol/answer.ts';
import type { DynamicToolCallResponse, UntimedItem } from '../../protocol/generated/types.ts';
import {
  type Action,
  type ActionHost,
  type ActionOutcome,
  type Judgement,
  type OpenItem,
  UNCONFINED,
} from '../action.ts';
import { type Denial, refusalText } from '../denial.ts';
import type { CallContext } from '../tool.ts';
import type { ClientTool } from './client-tool.ts';
import { contentOutput } from './content-output.ts';

type CallItem = Extract<UntimedItem, { type: 'dynamicToolCall' }>;

export interface ClientToolOptions {
  clock: Clock;
  /** The most characters of a result's texts that the model reads. */
  charsMax(): number;
}

/**
 * A call of a tool that a client provides. Policy does not judge it: the client does what it does
 * itself.
 */
export class ClientToolAction implements Action {
  readonly kind = 'dynamicTool';
  readonly item: CallItem;
  readonly #context: CallContext;
  readonly #deps: ClientToolOptions;

  constructor(
    { namespace, name }: ClientTool,
    args: JsonValue,
    { context, deps }: { context: CallContext; deps: ClientToolOptions },
  ) {
    this.#context = context;
    this.#deps = deps;
    this.item = {
      type: 'dynamicToolCall',
      id: context.itemId,
      namespace: namespace?.name ?? null,
      tool: name,
      arguments: args,
      status: 'inProgress',
      contentItems: null,
      success: null,
      durationMs: null,
    };
  }

  judge(): Judgement {
    return { run: UNCONFINED };
  }

  async perform(_permit: Permit, shown: OpenItem | null, host: ActionHost): Promise<ActionOutcome> {
    const { threadId, turnId } = this.#context;
    const { id: callId, namespace = null, tool, arguments: args } = this.item;
    const answer = await host.callClientTool({
      threadId,
      turnId,
      callId,
      namespace,
      tool,
      arguments: args,
    });
    const durationMs =
      shown === null ? null : Math.round(this.#deps.clock.monotonic() - shown.startedMs);
    return answer.type === 'result'
      ? this.#returned(answer.result, durationMs)
      : this.#failed(failure(answer, tool), durationMs);
  }

  refused(denial: Denial): ActionOutcome {
    return this.#failed(refusalText(denial), null);
  }

  async #returned(
    { contentItems, success }: DynamicToolCallResponse,
    durationMs: number | null,
  ): Promise<ActionOutcome> {
    if (contentItems.some((item) => item.type === 'inputImage' && isRemoteImage(item.imageUrl)))
      return this.#failed(
        `The result of ${this.item.tool} has a remote image (an http or https URL), which is not fetched.`,
        durationMs,
      );
    const status = success ? 'completed' : 'failed';
    const output = await contentOutput(contentItems, this.#deps.charsMax());
    return { output, success, item: { ...this.item, status, contentItems, success, durationMs } };
  }

  #failed(text: string, durationMs: number | null): ActionOutcome {
    const contentItems = [{ type: 'inputText' as const, text }];
    return {
      output: text,
      success: false,
      item: { ...this.item, status: 'failed', contentItems, success: false, durationMs },
    };
  }
}

/** Says to the model why there is no result. */
function failure(answer: Exclude<Answer<unknown>, { type: 'result' }>, tool: string): string {
  switch (answer.type) {
    case 'error':
      return `The client could not run ${tool}: ${answer.message}`;
    case 'timeout':
      return `The client did not answer the call of ${tool} within ${answer.ms / 1000} seconds.`;
    case 'clientGone':
      return `${tool} is not available now: the client that provides it is not connected.`;
    case 'aborted':
      return `The turn was interrupted before the client answered the call of ${tool}. It may have had effects.`;
    default:
      return answer satisfies never;
  }
}
