import { readConversation } from '../embedded/conversation-state.ts';
import type { ModelRequest } from '../model.ts';
import { actualValue, type SeenRequest } from './condition.ts';
import type { RunnableScript, ScriptedResponse } from './read-script.ts';

/** How many requests without a response, and how many unused responses, a report lists. */
const SHOWN_MAX = 20;
/** How many responses a report compares a request with. */
const COMPARED_MAX = 3;

/**
 * A run of a script, shared by all threads of a process: which responses are left, and which
 * requests had none.
 */
export class ScriptRun {
  readonly #script: RunnableScript;
  readonly #uses: Map<ScriptedResponse, number>;
  readonly #threads = new Map<string, number>();
  readonly #unmatched: string[] = [];
  #unmatchedCount = 0;
  #requests = 0;

  constructor(script: RunnableScript) {
    this.#script = script;
    this.#uses = new Map(script.responses.map((response) => [response, 0]));
  }

  /**
   * Takes the response to a request, which is then used up; or returns a string of several lines
   * that says why there is none.
   */
  take(request: ModelRequest): ScriptedResponse | string {
    const seen = this.#see(request);
    const candidates = this.#candidates();
    const response = candidates.find(({ conditions }) =>
      conditions.every((condition) => condition.holds(seen)),
    );
    if (response === undefined) {
      const difference = describeMismatch(seen, candidates);
      this.#unmatchedCount++;
      if (this.#unmatched.length < SHOWN_MAX) this.#unmatched.push(difference);
      return `The model script has no response for ${difference}`;
    }
    this.#uses.set(response, this.#used(response) + 1);
    return response;
  }

  /** How the run differs from the script, as a string of several lines; null if it does not. */
  report(): string | null {
    const unused = this.#script.responses.filter(
      (response) => this.#used(response) < response.timesMin,
    );
    if (this.#unmatchedCount === 0 && unused.length === 0) return null;
    return [
      `the run did not follow ${this.#script.file}`,
      ...section('request', 'without a response', {
        all: this.#unmatchedCount,
        texts: this.#unmatched,
      }),
      ...section('response', 'not used', {
        all: unused.length,
        texts: unused.slice(0, SHOWN_MAX).map((response) => this.#describeUnused(response)),
      }),
    ].join('\n');
  }

  #see(request: ModelRequest): SeenRequest {
    this.#requests++;
    const thread = this.#threads.get(request.promptCacheKey) ?? this.#threads.size + 1;
    this.#threads.set(request.promptCacheKey, thread);
    return {
      request,
      conversation: readConversation(request.input),
      number: this.#requests,
      thread,
    };
  }

  /** The responses that may answer now if they match. */
  #candidates(): ScriptedResponse[] {
    const { responses, strict } = this.#script;
    const due = responses.findIndex((response) => this.#used(response) < response.timesMin);
    const begun = strict ? responses.findLastIndex((response) => this.#used(response) > 0) : 0;
    return responses.filter((response, index) => {
      if (this.#used(response) >= response.timesMax) return false;
      const inItsTurn = index >= begun && (due === -1 || index <= due);
      return inItsTurn || (!strict && response.conditions.length > 0);
    });
  }

  #used(response: ScriptedResponse): number {
    return this.#uses.get(response) ?? 0;
  }

  #describeUnused(response: ScriptedResponse): string {
    const { label, conditions, timesMin } = response;
    const uses = timesMin > 1 ? `, used ${this.#used(response)} of ${timesMin} times` : '';
    return [
      `${label}${uses}`,
      ...conditions.map(({ key, expected }) => `  - ${key}: ${expected}`),
    ].join('\n');
  }
}

/**
 * Describes a request and how it differs from the conditions of the next responses: "-" is the
 * expected value, "+" the actual one.
 */
function describeMismatch(seen: SeenRequest, candidates: ScriptedResponse[]): string {
  const { number, thread, conversation } = seen;
  const head = `request ${number} (thread ${thread}, turn ${conversation.userMessages}).`;
  if (candidates.length === 0) {
    const keys = ['user', 'calls', 'output'] as const;
    return [
      `${head} All responses are used up.`,
      ...keys.map((key) => `  + ${key}: ${actualValue(seen, key)}`),
    ].join('\n');
  }
  const compared = candidates
    .slice(0, COMPARED_MAX)
    .flatMap(({ label, conditions }, index) => [
      `  ${index === 0 ? 'expected' : 'or'} ${label}`,
      ...conditions.flatMap((condition) =>
        condition.holds(seen)
          ? []
          : [
              `  - ${condition.key}: ${condition.expected}`,
              `  + ${condition.key}: ${actualValue(seen, condition.key)}`,
            ],
      ),
    ]);
  const left = candidates.length - COMPARED_MAX;
  return [head, ...compared, ...(left > 0 ? [`  and ${left} more`] : [])].join('\n');
}

/** A section of the report: a count, then the texts; empty if there are none. */
function section(
  what: string,
  how: string,
  { all, texts }: { all: number; texts: string[] },
): string[] {
  if (all === 0) return [];
  const left = all - texts.length;
  return [
    `${all} ${what}${all === 1 ? '' : 's'} ${how}:`,
    ...texts.map((text) => text.replace(/^/gm, '  ')),
    ...(left > 0 ? [`  and ${left} more`] : []),
  ];
}
