import type { JsonObject } from '../../base/json-value.ts';
import { type JsonText, JsonTextBuilder } from '../../base/text/json-text.ts';
import { knownDefaultEffort } from '../../config/providers/known-default-effort.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import { searchAsFunction } from '../found-tools.ts';
import { sentParameters } from '../http/parameters/optional-parameter.ts';
import type { ReasoningSent, SentSettings } from '../http/parameters/sent-settings.ts';
import type { BegunBody, BodyTools } from '../http/provider-api.ts';
import type { ModelRequest } from '../model.ts';
import { isEncrypted, sentReasoning } from './replayed-reasoning.ts';
import { RESPONSE_PARAMETERS } from './response-parameters.ts';
import { wireTools } from './wire-tools.ts';

/** The item types that the Responses API accepts. A thread's other items are not sent. */
const SENT_TYPES: ReadonlySet<string> = new Set([
  'message',
  'reasoning',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'local_shell_call',
  'tool_search_call',
  'tool_search_output',
  'web_search_call',
  'image_generation_call',
  'compaction',
]);

/**
 * The body of a Responses API request. Settings without a value are left out, since some providers
 * refuse null. The provider stores nothing, so it must return reasoning in its encrypted form for
 * the next request to include it. `begun`: the beginning of a request with the same settings.
 */
export async function requestBody(
  request: ModelRequest,
  settings: SentSettings,
  tools: BodyTools,
  begun: BegunBody | null = null,
): Promise<JsonText> {
  await tools.pace.worked(request.input.length);
  const sent = sentItems(request, settings);
  const isOf = begun?.sent.every((item, index) => item === sent[index]) === true;
  const { body, sent: before } =
    isOf && begun ? begun : await beginWith([], request, settings, tools);
  await addItems(body, sent.slice(before.length), before.length, { settings, tools });
  await body.write(']}');
  return body.end();
}

/**
 * The beginning of the body of a request that a message of the user will follow, with its input so
 * far.
 */
export async function beginBody(
  request: ModelRequest,
  settings: SentSettings,
  tools: BodyTools,
): Promise<BegunBody> {
  const sent = sentItems(request, settings, request.input.length);
  const begun = await beginWith(sent, request, settings, tools);
  begun.body.encode();
  return begun;
}

async function beginWith(
  sent: ResponseItem[],
  request: ModelRequest,
  settings: SentSettings,
  tools: BodyTools,
): Promise<BegunBody> {
  const body = new JsonTextBuilder(tools.pace);
  await body.add(bodySettings(request, settings));
  body.reopen();
  await body.write(',"input":[');
  await addItems(body, sent, 0, { settings, tools });
  return { body, sent };
}

/** Adds items behind `before` others. */
async function addItems(
  body: JsonTextBuilder,
  items: readonly ResponseItem[],
  before: number,
  { settings, tools }: { settings: SentSettings; tools: BodyTools },
): Promise<void> {
  const form = sentReasoning(settings);
  await tools.pace.worked(items.length);
  let separator = before === 0 ? '' : ',';
  for (const item of items) {
    const keepsId = form === 'withIds' && isEncrypted(item);
    const text = keepsId ? null : tools.texts.of(item, (each) => JSON.stringify(inputItem(each)));
    const wait = body.write(text === null ? separator : separator + text);
    if (wait !== null) await wait;
    if (text === null) await body.add(inputItem(item, keepsId ? { keepsId } : {}));
    separator = ',';
  }
}

/**
 * The items that are sent. A model that was not offered the API's own search for tools gets
 * searches as calls of a function.
 */
function sentItems(
  { input, tools }: ModelRequest,
  settings: SentSettings,
  turnStart?: number,
): ResponseItem[] {
  const known = input.filter(({ type }) => SENT_TYPES.has(type));
  const sent = tools.some(({ type }) => type === 'tool_search')
    ? known
    : known.flatMap((item) => searchAsFunction(item) ?? []);
  const form = sentReasoning(settings);
  return withoutEarlierRawReasoning(sent, turnStart).filter(
    (item) => form !== 'none' || !isEncrypted(item),
  );
}

/** The body without the input. */
function bodySettings(request: ModelRequest, settings: SentSettings): JsonObject {
  const reasoning = reasoningSettings(request, settings.reasoning);
  const asksReasoning = settings.reasoning === 'full' || Object.keys(reasoning).length > 0;
  const {
    web_search: search,
    'text.verbosity': verbosity,
    'text.format': format,
    ...others
  } = sentParameters(RESPONSE_PARAMETERS, request, settings);
  const text = {
    ...(verbosity === undefined ? {} : { verbosity }),
    ...(format === undefined ? {} : { format }),
  };
  return {
    model: request.model,
    instructions: request.instructions,
    tools: [...wireTools(request.tools), ...(search === undefined ? [] : [search])],
    ...(Object.keys(reasoning).length > 0 ? { reasoning } : {}),
    store: false,
    stream: true,
    include: asksReasoning ? ['reasoning.encrypted_content'] : [],
    ...others,
    ...(Object.keys(text).length > 0 ? { text } : {}),
  };
}

/**
 * Leaves out raw reasoning before the last message that is not the model's. Providers that did not
 * write it refuse it, and to others it is useful only within its turn. Reasoning from the tags of a
 * message is left out everywhere: the provider wrote no such item.
 */
function withoutEarlierRawReasoning(
  input: ResponseItem[],
  turnStart = input.findLastIndex((item) => item.type === 'message' && item.role !== 'assistant'),
): ResponseItem[] {
  return input.filter(
    (item, index) => (index > turnStart && !isFromTags(item)) || !isRawReasoning(item),
  );
}

function isFromTags(item: ResponseItem): boolean {
  return item.type === 'reasoning' && (item.content ?? []).every(({ type }) => type === 'text');
}

function isRawReasoning(item: ResponseItem): boolean {
  return (
    item.type === 'reasoning' &&
    !item.encrypted_content &&
    item.summary.length === 0 &&
    (item.content ?? []).length > 0
  );
}

function reasoningSettings(
  { model, effort: asked, summary }: ModelRequest,
  sent: ReasoningSent,
): JsonObject {
  if (sent === 'none') return {};
  const effort = asked ?? (sent === 'full' ? knownDefaultEffort(model) : null);
  const summarized = summary ?? (sent === 'full' ? 'auto' : 'none');
  return {
    ...(effort === null ? {} : { effort }),
    ...(summarized === 'none' ? {} : { summary: summarized }),
  };
}

/**
 * An item, by default without its id: the provider stores nothing that the id could name, and it
 * refuses ids that it did not make.
 */
function inputItem(
  item: ResponseItem,
  { keepsId = item.type === 'image_generation_call' } = {},
): JsonObject {
  const fields: Record<string, unknown> = { ...item };
  if (!keepsId) delete fields.id;
  delete fields.end_turn;
  for (const [name, value] of Object.entries(fields))
    if (value === null || value === undefined) delete fields[name];
  if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output')
    fields.output = outputBody(item.output);
  return fields as JsonObject;
}

/** A tool's output may be stored with a success flag; only its body is sent. */
function outputBody(output: unknown): unknown {
  return typeof output === 'object' && output !== null && 'body' in output ? output.body : output;
}
