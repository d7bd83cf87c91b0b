import type { Match, TextMatch } from '../../protocol/generated/model-script.ts';
import { quoteText } from '../../protocol/show-value.ts';
import type { ConversationState } from '../embedded/conversation-state.ts';
import { messageText, outputText } from '../message-text.ts';
import type { ModelRequest } from '../model.ts';

const SHOWN_CHARS_MAX = 300;

/** A request with the facts that conditions test. */
export interface SeenRequest {
  request: ModelRequest;
  conversation: ConversationState;
  /** The request's number in the run, and its thread's number; both count from 1. */
  number: number;
  thread: number;
}

/** One condition that a request must meet. */
export interface Condition {
  /** The key in `match`. */
  key: keyof Match;
  /** The expected value in words, to follow "key: ". */
  expected: string;
  holds(seen: SeenRequest): boolean;
}

/** A request's actual value for each key, as reports show it. */
const SHOWN: { [Key in keyof Match]-?: (seen: SeenRequest) => string } = {
  user: ({ conversation }) => quote(conversation.userText),
  prompt: ({ request }) => `${promptText(request).length} characters without it`,
  output: ({ conversation }) => outputs(conversation).map(quote).join(', ') || 'none',
  tool: ({ conversation }) => answered(conversation).join(', ') || 'none',
  calls: ({ conversation }) => String(conversation.calls.length),
  model: ({ request }) => request.model,
  tools: ({ request }) => request.tools.map(({ name }) => name).join(', ') || 'none',
  thread: ({ thread }) => String(thread),
  turn: ({ conversation }) => String(conversation.userMessages),
  request: ({ number }) => String(number),
};

/**
 * Reads the conditions of a `match`. Calls `report` with the key and the problem of each invalid
 * one.
 */
export function readConditions(
  match: Match,
  report: (key: keyof Match, problem: string) => void,
): Condition[] {
  const conditions: Condition[] = [];
  const add = (key: keyof Match, expected: string, holds: (seen: SeenRequest) => boolean) =>
    conditions.push({ key, expected, holds });
  const addText = (
    key: keyof Match,
    wanted: TextMatch | undefined,
    textsOf: (seen: SeenRequest) => string[],
  ) => {
    if (wanted === undefined) return;
    const test = textTest(wanted, (problem) => report(key, problem));
    add(key, test.expected, (seen) => textsOf(seen).some(test.holds));
  };
  const { model, tool, tools } = match;
  addText('user', match.user, ({ conversation }) => [conversation.userText]);
  addText('prompt', match.prompt, ({ request }) => [promptText(request)]);
  addText('output', match.output, ({ conversation }) => outputs(conversation));
  addText(
    'model',
    model === undefined || isPattern(model) ? model : { is: model },
    ({ request }) => [request.model],
  );
  if (tool !== undefined)
    add('tool', tool, ({ conversation }) => answered(conversation).includes(tool));
  if (tools !== undefined)
    add('tools', tools.join(', ') || 'none', ({ request }) => offers(request, tools));
  for (const key of ['calls', 'thread', 'turn', 'request'] as const) {
    const wanted = match[key];
    if (wanted !== undefined)
      add(key, String(wanted), (seen) => SHOWN[key](seen) === String(wanted));
  }
  return conditions;
}

/** A request's actual value for a key of `match`, in words. */
export function actualValue(seen: SeenRequest, key: keyof Match): string {
  return SHOWN[key](seen);
}

function textTest(
  wanted: TextMatch,
  report: (problem: string) => void,
): { expected: string; holds: (text: string) => boolean } {
  if (typeof wanted === 'object')
    return { expected: quote(wanted.is), holds: (text) => text === wanted.is };
  if (!isPattern(wanted))
    return {
      expected: `text that contains ${quote(wanted)}`,
      holds: (text) => text.includes(wanted),
    };
  const end = wanted.lastIndexOf('/');
  try {
    const pattern = new RegExp(wanted.slice(1, end), wanted.slice(end + 1).replace(/[gy]/g, ''));
    return { expected: wanted, holds: (text) => pattern.test(text) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    report(`not a valid regular expression: ${error.message}`);
    return { expected: wanted, holds: () => false };
  }
}

/** Whether a string is a pattern such as `/refunds?/i`; a path such as `/usr/lib/x.so` is not. */
function isPattern(text: string): boolean {
  return /^\/.+\/[a-z]*$/s.test(text);
}

function offers(request: ModelRequest, names: string[]): boolean {
  const offered = request.tools.map(({ name }) => name);
  return names.length === 0 ? offered.length === 0 : names.every((name) => offered.includes(name));
}

function outputs({ calls }: ConversationState): string[] {
  return calls.map(({ output }) => output).filter((output) => output !== null);
}

function answered({ calls }: ConversationState): string[] {
  return calls.filter(({ output }) => output !== null).map(({ name }) => name);
}

function promptText({ instructions, input }: ModelRequest): string {
  const texts = input.map((item) =>
    'output' in item ? outputText(item.output) : messageText(item),
  );
  return [instructions, ...texts].filter((text) => text !== '').join('\n');
}

function quote(text: string): string {
  return quoteText(text, SHOWN_CHARS_MAX);
}
