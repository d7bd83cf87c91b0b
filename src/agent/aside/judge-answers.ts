import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import { inSlices } from '../../base/in-slices.ts';
import { orAborted } from '../../base/or-aborted.ts';
import { contextMessage } from '../../instructions/messages/context-message.ts';
import type { Model, ModelRequest, ToolSpec } from '../../model/model.ts';
import type {
  ResponseItem,
  TokenUsageBreakdown,
  TurnError,
} from '../../protocol/generated/types.ts';
import type { DecisionMask } from '../../secrets/decision-mask.ts';
import { LOOK_COMMAND, type LookServices, lookedUp } from '../../tools/look-command.ts';
import { FILE_CHARS_MAX, type ReadFile, readFileText } from '../../tools/read-file.ts';
import type { TurnContext } from '../turn/turn-part.ts';
import { type AsideAnswer, askAside } from './ask-aside.ts';

/** How often the model may read files before it must answer. */
const READINGS_MAX = 4;
/** The most files that it reads, and commands that it runs, at once. */
const FILES_MAX = 8;
/** How often the model is asked until its answer can be read. */
const ATTEMPTS_MAX = 2;
const NO_ANSWER = {
  message: 'The model gave no answer.',
  codexErrorInfo: 'other',
  additionalDetails: null,
} as const;
const UNREADABLE = { ...NO_ANSWER, message: 'The model gave no answer that can be read.' };

interface JudgeAnswersDeps extends LookServices {
  /** Hides the secrets of files and outputs. */
  mask(): DecisionMask;
  /**
   * Takes the tokens that a request to the model of these settings has used. Rejects with the
   * store's error.
   */
  onUsage(turn: TurnContext, usage: TokenUsageBreakdown): Promise<void>;
  breaks: EventLoopYield;
}

export interface Reading {
  turn: TurnContext;
  /** Ends the wait for an answer. */
  signal: AbortSignal;
  /** The folder of relative paths. */
  cwd: string;
  /** The most characters of all files and outputs that the model reads. */
  filesChars: number;
  /** How many commands it may still run in this review. */
  looks: { left: number };
}

/** The keys of the answer that a model is asked for, and how it is read. */
export interface AnswerReader<T> {
  /** The keys of the answer. */
  keys: readonly string[];
  /** Null: the answer cannot be read. */
  read(text: string): T | null;
}

/**
 * An answer of the model, the input of its request, and how many secrets that may decide were
 * hidden in the files that it read.
 */
interface Answered {
  answer: AsideAnswer;
  input: ResponseItem[];
  deciding: number;
}

/**
 * The verdict of a model. `deciding`: how many secrets were hidden from it, in files that it read,
 * that may decide what the files do.
 */
export interface Decided<T> {
  verdict: T;
  deciding: number;
}

type FunctionCall = Extract<ResponseItem, { type: 'function_call' }>;

/**
 * Gets the answers of a model that judges something, and may read files and run commands that only
 * look before it answers.
 */
export class JudgeAnswers {
  readonly #deps: JudgeAnswersDeps;
  /** The models that refused a request with a schema and answered the same one without it. */
  readonly #withoutSchema = new Set<string>();

  constructor(deps: JudgeAnswersDeps) {
    this.#deps = deps;
  }

  /**
   * Asks the model for a verdict, and once more if its answer cannot be read. Only a `verdict` is
   * one: the caller takes every error as no. Rejects only with the store's error.
   */
  async verdict<T>(
    model: Model,
    request: ModelRequest,
    { keys, read }: AnswerReader<T>,
    reading: Reading,
  ): Promise<Decided<T> | { error: TurnError }> {
    let next = request;
    let hidden = 0;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const { answer, input, deciding } = await this.#answer(model, next, reading);
      if (!('text' in answer)) return { error: answer.error ?? NO_ANSWER };
      hidden += deciding;
      const verdict = isOnlyText(answer) ? read(answer.text) : null;
      if (verdict !== null) return { verdict, deciding: hidden };
      const said = answer.items.filter(({ type }) => type === 'message');
      next = { ...request, tools: [], input: [...input, ...said, repairMessage(keys)] };
    }
    return { error: UNREADABLE };
  }

  /**
   * Asks the model, and lets it read files until it answers. Rejects only with the store's error.
   */
  async #answer(model: Model, request: ModelRequest, reading: Reading): Promise<Answered> {
    const { signal } = reading;
    let { input } = request;
    let { filesChars } = reading;
    let deciding = 0;
    for (let readings = 0; ; readings++) {
      const mayRead = readings < READINGS_MAX && request.tools.length > 0;
      const isOffered = ({ name }: ToolSpec) =>
        mayRead && (name !== LOOK_COMMAND.name || reading.looks.left > 0);
      const answer = await this.#asked(
        model,
        { ...request, input, tools: request.tools.filter(isOffered) },
        reading,
      );
      await this.#count(answer, request.model, reading.turn);
      const calls =
        mayRead && 'items' in answer
          ? answer.items.filter((item) => item.type === 'function_call')
          : [];
      if (!('items' in answer) || calls.length === 0 || signal.aborted)
        return { answer, input, deciding };
      const outputs = await orAborted(
        this.#outputs(calls, request.tools, { ...reading, filesChars }),
        signal,
      );
      if (outputs === null) return { answer: { error: null }, input, deciding };
      for (const { read } of outputs) {
        filesChars -= read.text.length;
        deciding += read.deciding;
      }
      input = [
        ...input,
        ...asInput(answer.items),
        ...outputs.map(({ callId, read }) => outputOf(callId, read)),
      ];
    }
  }

  /** Asks without the schema if the model refuses it: the instructions describe the answer, too. */
  async #asked(model: Model, request: ModelRequest, { signal }: Reading): Promise<AsideAnswer> {
    const isWithout = this.#withoutSchema.has(request.model);
    const answer = await askAside(
      model,
      isWithout ? { ...request, outputSchema: null } : request,
      signal,
    );
    if (isWithout || 'text' in answer || signal.aborted || !mayBeAboutSchema(answer.error))
      return answer;
    const second = await askAside(model, { ...request, outputSchema: null }, signal);
    if ('text' in second) this.#withoutSchema.add(request.model);
    return second;
  }

  async #count(answer: AsideAnswer, model: string, turn: TurnContext): Promise<void> {
    if (!('usage' in answer) || answer.usage === null) return;
    await this.#deps.onUsage({ ...turn, settings: { ...turn.settings, model } }, answer.usage);
  }

  /**
   * An output for each call: the file or the output that the model wants to read, without secrets,
   * or why it cannot.
   */
  async #outputs(calls: readonly FunctionCall[], tools: readonly ToolSpec[], reading: Reading) {
    const charsMax = Math.min(
      FILE_CHARS_MAX,
      Math.floor(reading.filesChars / Math.min(calls.length, FILES_MAX)),
    );
    const outputs = [];
    for await (const [index, call] of inSlices(calls.entries(), 1, this.#deps.breaks)) {
      const read = tools.some(({ name }) => name === call.name)
        ? await this.#output(call, index, { ...reading, charsMax })
        : unread(
            `There is no tool ${call.name}. There is only ${tools.map(({ name }) => name).join(' and ')}.`,
          );
      outputs.push({ callId: call.call_id, read });
    }
    return outputs;
  }

  async #output(
    { name, arguments: args }: FunctionCall,
    index: number,
    { turn, cwd, charsMax, looks, signal }: Reading & { charsMax: number },
  ): Promise<ReadFile> {
    if (index >= FILES_MAX)
      return unread(
        `This was not done: at most ${FILES_MAX} files are read and commands run at once.`,
      );
    if (charsMax <= 0)
      return unread('This was not done: there is no room for more texts. Answer now.');
    const { home, env } = this.#deps;
    const options = { settings: turn.settings, cwd, charsMax, mask: this.#deps.mask() };
    if (name !== LOOK_COMMAND.name) return readFileText(args, { home, env, ...options });
    if (looks.left === 0)
      return unread(
        'This command was not run: no more commands are possible in this review. Answer now.',
      );
    looks.left -= 1;
    return lookedUp(args, this.#deps, { ...options, signal });
  }
}

function unread(text: string): ReadFile {
  return { text, deciding: 0 };
}

function outputOf(callId: string, { text }: ReadFile) {
  return { type: 'function_call_output' as const, call_id: callId, output: text };
}

/**
 * Whether the model says nothing beside the text: no call, and no refusal. Its reasoning does not
 * count.
 */
function isOnlyText({ items }: Extract<AsideAnswer, { items: unknown }>): boolean {
  return items.every(
    (item) =>
      item.type === 'reasoning' ||
      (item.type === 'message' && item.content.every((part) => 'text' in part)),
  );
}

/** Asks again after an answer that cannot be read. */
function repairMessage(keys: readonly string[]): ResponseItem {
  const form = `one JSON object with the keys ${keys.join(', ')}, each once`;
  return contextMessage('user', [
    `This answer cannot be read. Answer with ${form}, and with nothing else: no text and no code block around it.`,
  ]);
}

/** The items of an answer for the next request: without calls that have no output. */
function asInput(items: readonly ResponseItem[]): ResponseItem[] {
  return items.filter(
    ({ type }) => type === 'reasoning' || type === 'message' || type === 'function_call',
  );
}

/**
 * Whether a provider that knows no schema for the answer can have failed in this way. Providers say
 * it in many words.
 */
function mayBeAboutSchema(error: TurnError | null): boolean {
  const info = error?.codexErrorInfo;
  if (typeof info === 'object' && info !== null && 'httpConnectionFailed' in info)
    return info.httpConnectionFailed.httpStatusCode === 422;
  return info === 'other' || info === 'badRequest';
}
