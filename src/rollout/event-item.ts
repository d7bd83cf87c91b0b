import type { UntimedItem } from '../protocol/generated/types.ts';
import { completedItem } from './completed-item.ts';
import { Fields } from './fields.ts';

/**
 * Returns the item of an event with which older rollouts record an item, in place of
 * `item_completed`. Null for other events.
 */
export function eventItem(event: Fields, newId: () => string): UntimedItem | null {
  const type = event.text('type') ?? '';
  const fieldsOf = Object.hasOwn(EVENTS, type) ? EVENTS[type] : undefined;
  if (fieldsOf === undefined) return null;
  const id = event.text('call_id') ?? event.text('item_id') ?? event.text('id') ?? newId();
  return completedItem(new Fields({ ...fieldsOf(event), id }), newId);
}

/** By the event's type: the fields that `item_completed` has for the same item. */
const EVENTS: Record<string, (event: Fields) => Record<string, unknown>> = {
  user_message: (event) => ({
    type: 'UserMessage',
    client_id: event.raw('client_id'),
    content: userContent(event),
  }),
  agent_message: (event) => ({
    type: 'AgentMessage',
    content: [{ text: event.raw('message') }],
    phase: event.raw('phase'),
    memory_citation: event.raw('memory_citation'),
  }),
  exec_command_end: (event) => ({
    type: 'CommandExecution',
    command: event.raw('command'),
    cwd: event.raw('cwd'),
    process_id: event.raw('process_id'),
    source: event.raw('source'),
    parsed_cmd: event.raw('parsed_cmd'),
    status: event.text('status') ?? outcome(event.number('exit_code') === 0),
    aggregated_output:
      event.text('aggregated_output') ||
      `${event.text('stdout') ?? ''}${event.text('stderr') ?? ''}`,
    exit_code: event.raw('exit_code'),
    duration: event.raw('duration'),
  }),
  patch_apply_end: (event) => ({
    type: 'FileChange',
    changes: event.raw('changes'),
    status: event.text('status') ?? outcome(event.flag('success') === true),
  }),
  mcp_tool_call_end: (event) => ({
    type: 'McpToolCall',
    server: event.object('invocation').raw('server'),
    tool: event.object('invocation').raw('tool'),
    arguments: event.object('invocation').raw('arguments'),
    readOnlyHint: event.raw('read_only_hint'),
    status: outcome(
      event.object('result').has('Ok') &&
        event.object('result').object('Ok').flag('isError') !== true,
    ),
    result: event.object('result').raw('Ok'),
    error: event.object('result').raw('Err'),
    duration: event.raw('duration'),
  }),
  dynamic_tool_call_response: (event) => ({
    type: 'DynamicToolCall',
    namespace: event.raw('namespace'),
    tool: event.raw('tool'),
    arguments: event.raw('arguments'),
    status: outcome(event.flag('success') === true),
    content_items: event.raw('content_items'),
    success: event.raw('success'),
    duration: event.raw('duration'),
  }),
  web_search_end: (event) => ({
    type: 'WebSearch',
    query: event.raw('query'),
    action: event.raw('action'),
    results: event.raw('results'),
  }),
  view_image_tool_call: (event) => ({ type: 'ImageView', path: event.raw('path') }),
  image_generation_end: (event) => ({
    type: 'ImageGeneration',
    status: event.raw('status'),
    revised_prompt: event.raw('revised_prompt'),
    result: event.raw('result'),
    saved_path: event.raw('saved_path'),
  }),
  entered_review_mode: (event) => ({
    type: 'EnteredReviewMode',
    user_facing_hint: event.raw('user_facing_hint'),
    target: event.raw('target'),
  }),
  exited_review_mode: (event) => ({
    type: 'ExitedReviewMode',
    review_output: event.raw('review_output'),
  }),
  context_compacted: () => ({ type: 'ContextCompaction' }),
};

function outcome(succeeded: boolean): 'completed' | 'failed' {
  return succeeded ? 'completed' : 'failed';
}

function userContent(event: Fields): unknown[] {
  const text = event.text('message') ?? '';
  return [
    ...(text === '' ? [] : [{ type: 'text', text, text_elements: event.raw('text_elements') }]),
    ...event.texts('images').map((url) => ({ type: 'image', image_url: url })),
    ...event.texts('local_images').map((path) => ({ type: 'local_image', path })),
    ...event.texts('audio').map((url) => ({ type: 'audio', audio_url: url })),
    ...event.texts('local_audio').map((path) => ({ type: 'local_audio', path })),
  ];
}
