import { isObject } from '../../base/json-value.ts';
import {
  type ModelScript,
  modelScriptSchema,
  type Reply,
  type Response,
  type Rule,
  type Script,
  type Step,
} from '../../protocol/generated/model-script.ts';
import type { ResponseItem, TokenUsageBreakdown } from '../../protocol/generated/types.ts';
import { readResponseItem } from '../responses/read-response-item.ts';
import { checkShape, type ShapePath, type ShapeProblem } from './check-shape.ts';
import { type Condition, readConditions } from './condition.ts';
import { namesScriptFile } from './names-script-file.ts';
import { parseScript } from './parse-script.ts';
import { ScriptError, type ScriptLocation } from './script-error.ts';

/** A response of the script, ready for use. */
export interface ScriptedResponse {
  /** Its name in reports: its number, name and line. */
  label: string;
  conditions: Condition[];
  steps: ScriptedStep[];
  /** The most requests that it answers, and how many it must answer for the run to be complete. */
  timesMax: number;
  timesMin: number;
  /** `estimate`: computed from the text read and written; null: the response reports none. */
  usage: TokenUsageBreakdown | 'estimate' | null;
}

/** A step of the script, with short forms expanded and the script's chunk and delay applied. */
export type ScriptedStep = Exclude<Step, string | { item: unknown }> | { item: ResponseItem };

export interface RunnableScript {
  /** The script's name in reports. */
  file: string;
  strict: boolean;
  responses: ScriptedResponse[];
}

/**
 * Reads a script, given as YAML or JSON text or as data. `file` names it in errors and reports.
 * Throws a ScriptError with all problems in the order of the text, with lines and columns if the
 * script was given as text.
 */
export function readScript(source: string | ModelScript, file: string): RunnableScript {
  if (typeof source === 'string' && namesScriptFile(source)) {
    const text = `${source.trim()} looks like the path of a script, not a script: pass the text of the file, readFileSync(path, 'utf8')`;
    throw new ScriptError([{ text, place: null }], file);
  }
  const parsed =
    typeof source === 'string' ? parseScript(source, file) : { value: source, placeOf: () => null };
  const problems = checkShape(parsed.value, modelScriptSchema);
  const reader = new ScriptReader((path) => parsed.placeOf(path), file);
  // A value that fits the schema is a ModelScript: the type is generated from it.
  const script = hasResponses(parsed.value)
    ? reader.read(parsed.value as ModelScript, problems)
    : null;
  const all = [...problems, ...reader.problems];
  if (script !== null && all.length === 0) return script;
  throw new ScriptError(
    all
      .map(({ path, onKey, text }) => ({
        text: `${pathText(onKey ? path.slice(0, -1) : path)}${text}`,
        place: parsed.placeOf(path, onKey),
      }))
      .toSorted((one, other) => comparePlaces(one.place, other.place)),
    file,
  );
}

function hasResponses(value: unknown): boolean {
  return Array.isArray(isObject(value) ? value.responses : value);
}

function comparePlaces(one: ScriptLocation | null, other: ScriptLocation | null): number {
  return one === null || other === null ? 0 : one.line - other.line || one.column - other.column;
}

class ScriptReader {
  readonly problems: ShapeProblem[] = [];
  readonly #placeOf: (path: ShapePath) => ScriptLocation | null;
  readonly #file: string;
  #defaults: Pick<Script, 'chunk' | 'delay'> = {};

  constructor(placeOf: (path: ShapePath) => ScriptLocation | null, file: string) {
    this.#placeOf = placeOf;
    this.#file = file;
  }

  /** Leaves out the responses that these problems are about. */
  read(script: ModelScript, problems: readonly ShapeProblem[]): RunnableScript {
    const {
      responses,
      order = 'any',
      chunk,
      delay,
    } = Array.isArray(script) ? { responses: script } : script;
    this.#defaults = {
      ...(chunk !== undefined && { chunk }),
      ...(delay !== undefined && { delay }),
    };
    const path = Array.isArray(script) ? [] : ['responses'];
    const wrong = new Set(problems.map((problem) => problem.path[path.length]));
    return {
      file: this.#file,
      strict: order === 'strict',
      responses: responses.flatMap((response, index) =>
        wrong.has(index) ? [] : this.#response(response, [...path, index]),
      ),
    };
  }

  #response(response: Response, path: ShapePath): ScriptedResponse {
    const rule: Rule = isRule(response) ? response : { reply: response };
    const { name, match = {}, reply, times = 1, optional = false, usage } = rule;
    const timesMax = times === 'any' ? Number.POSITIVE_INFINITY : times;
    const place = this.#placeOf(path);
    const where = place === null ? '' : ` (line ${place.line})`;
    return {
      label: `response ${Number(path.at(-1)) + 1}${name === undefined ? '' : ` "${name}"`}${where}`,
      conditions: readConditions(match, (key, text) => this.#report([...path, 'match', key], text)),
      steps: this.#steps(reply, isRule(response) ? [...path, 'reply'] : path),
      timesMax,
      timesMin: optional ? 0 : times === 'any' ? 1 : times,
      usage: usage === undefined ? 'estimate' : readUsage(usage),
    };
  }

  #steps(reply: Reply, path: ShapePath): ScriptedStep[] {
    const list = Array.isArray(reply)
      ? reply.map((step, index) => ({ step, at: [...path, index] }))
      : [{ step: reply, at: path }];
    const end = list.findIndex(({ step }) => endsResponse(step));
    const behind = end === -1 ? undefined : list[end + 1];
    if (behind !== undefined)
      this.#report(
        behind.at,
        'the step before this one ends the response, so nothing can follow it',
      );
    return list.flatMap(({ step, at }) => this.#step(step, at) ?? []);
  }

  #step(step: Step, path: ShapePath): ScriptedStep | null {
    if (typeof step === 'string') return { ...this.#defaults, message: step };
    if ('message' in step || 'reasoning' in step) return { ...this.#defaults, ...step };
    if ('arguments' in step) this.#checkJson(step.arguments, [...path, 'arguments']);
    if (!('item' in step)) return step;
    this.#checkJson(step.item, [...path, 'item']);
    const read = readResponseItem(step.item);
    if (read?.problem === null) return { item: read.item };
    this.#report([...path, 'item'], read?.problem ?? 'not an item');
    return null;
  }

  /** A value that contains itself cannot be sent. */
  #checkJson(value: unknown, path: ShapePath): void {
    try {
      JSON.stringify(value);
    } catch (error) {
      this.#report(
        path,
        `this cannot be written as JSON: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`,
      );
    }
  }

  #report(path: ShapePath, text: string): void {
    this.problems.push({ path, onKey: false, text });
  }
}

function isRule(response: Response): response is Rule {
  return typeof response === 'object' && 'reply' in response;
}

function endsResponse(step: Step): boolean {
  return typeof step === 'object' && ('hang' in step || 'error' in step || 'cut' in step);
}

function readUsage(usage: NonNullable<Rule['usage']>): TokenUsageBreakdown | null {
  if (usage === 'none') return null;
  const { input, output, cached = 0, reasoning = 0 } = usage;
  return {
    inputTokens: input,
    cachedInputTokens: cached,
    cacheWriteInputTokens: 0,
    outputTokens: output,
    reasoningOutputTokens: reasoning,
    totalTokens: input + output,
  };
}

/** `response 3, step 2, delay: ` */
function pathText(path: ShapePath): string {
  const inside = path[0] === 'responses' ? path.slice(1) : path;
  const words = inside.map((key, index) =>
    typeof key === 'number' ? `${counted(inside[index - 1])} ${key + 1}` : key,
  );
  return words.length === 0 ? '' : `${words.join(', ')}: `;
}

/** The word for an element of a list, by the key before it. */
function counted(before: string | number | undefined): string {
  if (before === undefined) return 'response';
  return typeof before === 'number' || before === 'reply' ? 'step' : 'part';
}
