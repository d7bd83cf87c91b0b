import type { ModelEvent, ModelRequest } from '../../../src/model/model.ts';
import type {
  ItemApprovalReview,
  ServerNotifications,
  ThreadItem,
} from '../../../src/protocol/generated/types.ts';
import {
  functionCall,
  message,
  response,
  type ScriptedResponse,
  TestModel,
} from '../../support/test-model.ts';
import { startServer, type TestServer, type TestServerOptions } from '../../support/test-server.ts';
import { FREE_CONFIG } from '../../tools/command-server.ts';

/** Every command that is not known to be harmless is reviewed. */
export const GUARDED_CONFIG = `approvals_reviewer = "auto_review"\n${FREE_CONFIG.replace('"never"', '"untrusted"')}`;

export const ALLOW = {
  risk_level: 'low',
  user_authorization: 'high',
  outcome: 'allow',
  rationale: 'It is harmless.',
};
export const DENY = {
  risk_level: 'high',
  user_authorization: 'unknown',
  outcome: 'deny',
  rationale: 'It is far too risky.',
};

/** A response with an assessment, or with a text that is none. */
export function assesses(answer: object | string): ModelEvent[] {
  return response(
    message(typeof answer === 'string' ? answer : JSON.stringify(answer)),
  ) as ModelEvent[];
}

function isReview({ clientMetadata }: ModelRequest): boolean {
  return clientMetadata?.['x-openai-subagent'] === 'guardian';
}

/** A call of a command, with an id. */
export function runsAs(callId: string, cmd: string, more: object = {}): ModelEvent[] {
  return functionCall('exec_command', { cmd, login: false, ...more }, { callId });
}

/**
 * A model that answers the thread and the reviews from two lists. The last review answers all
 * further ones.
 */
export class GuardedModel extends TestModel {
  readonly reviews: ModelRequest[] = [];
  readonly own: ModelRequest[] = [];
  readonly #turns: ScriptedResponse[];
  readonly #answers: ScriptedResponse[];

  constructor({ turns, reviews }: { turns: ScriptedResponse[]; reviews: ScriptedResponse[] }) {
    super();
    this.#turns = turns;
    this.#answers = reviews;
  }

  override stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    const isOfGuardian = isReview(request);
    (isOfGuardian ? this.reviews : this.own).push(structuredClone(request));
    const list = isOfGuardian ? this.#answers : this.#turns;
    const next = isOfGuardian ? list[Math.min(this.reviews.length, list.length) - 1] : list.shift();
    this.push(next ?? response(message('done')));
    return super.stream(request, signal);
  }
}

export interface Guarded extends TestServer {
  model: GuardedModel;
}

/** A server whose approval requests go to the guardian, and its first thread. */
export async function guarded(
  script: { turns: ScriptedResponse[]; reviews: ScriptedResponse[] },
  options: Omit<TestServerOptions, 'model'> = {},
): Promise<Guarded> {
  const model = new GuardedModel(script);
  const server = await startServer({ config: GUARDED_CONFIG, ...options, model });
  await server.client.request('thread/start', {});
  return { ...server, model };
}

export function reviewsCompleted({
  client,
}: Pick<TestServer, 'client'>): ServerNotifications['item/autoApprovalReview/completed'][] {
  return client.notifications('item/autoApprovalReview/completed');
}

/** The reviews that are kept with an item. */
export function keptReviews(item: ThreadItem | undefined): ItemApprovalReview[] {
  return item?.type === 'commandExecution' || item?.type === 'fileChange'
    ? (item.approvalReviews ?? [])
    : [];
}

/** The output that the model read for a call. */
export function toldOf({ own }: GuardedModel, callId = 'call_1'): string {
  const item = own
    .at(-1)
    ?.input.find(
      (each) => each.type.endsWith('_output') && 'call_id' in each && each.call_id === callId,
    );
  return item !== undefined && 'output' in item ? String(item.output) : '';
}

/** A line of the history that the guardian reads. */
export interface ShownLine {
  from: string;
  text: string;
  askedByAgent?: string;
}

/** The history in a request to the guardian. */
export function shownLines(request: ModelRequest | undefined): ShownLine[] {
  const [history] = request?.input ?? [];
  const part = history?.type === 'message' ? history.content[1] : undefined;
  return part !== undefined && 'text' in part
    ? part.text.split('\n').map((line) => JSON.parse(line) as ShownLine)
    : [];
}
