import type { Notification } from '../../client/client-options.ts';
import type {
  ThreadItem,
  TokenUsageBreakdown,
  Turn,
  TurnError,
} from '../../protocol/generated/types.ts';
import { hookLines, itemLines, planLines, shownSeconds, startLines } from './item-lines.ts';
import type { Screen } from './screen.ts';
import { harmless, StreamedText } from './streamed-text.ts';

/** The tokens of the thread before the turn, and now. */
interface Usage {
  before: TokenUsageBreakdown;
  now: TokenUsageBreakdown;
}

/**
 * Prints a turn for a person: the agent's messages as they stream, and a few lines about each other
 * item. If a program reads stdout, it gets only the last message of a completed turn, and what
 * comes before that goes to stderr.
 */
export class TurnPrinter {
  readonly #screen: Screen;
  /** The message that streams: its item, and whether a part of it was shown. */
  #streaming: { itemId: string; text: StreamedText } | null = null;
  /** The last whole message, which may be the answer. */
  #answer: string | null = null;
  /** The item that the last line has announced. */
  #announced: string | null = null;
  #lastError = '';
  #usage: Usage | null = null;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  take({ method, params }: Notification): void {
    switch (method) {
      case 'item/started':
        this.#start(params.item);
        break;
      case 'item/agentMessage/delta':
      case 'item/plan/delta':
        this.#stream(params.itemId, params.delta);
        break;
      case 'item/completed':
        this.#complete(params.item);
        break;
      case 'turn/plan/updated':
        this.#note(planLines(params, this.#screen));
        break;
      case 'thread/tokenUsage/updated':
        this.#count(params.tokenUsage);
        break;
      case 'hook/completed':
        this.#noteBeside(hookLines(params.run, this.#screen));
        break;
      case 'model/rerouted':
        this.#note([
          this.#screen.line(`the model ${params.toModel} answers in place of ${params.fromModel}`, {
            color: 'dim',
          }),
        ]);
        break;
      case 'error':
        if (params.willRetry) this.#retry(params.error);
        break;
      default: // Nothing that a person has to read.
    }
  }

  /** The turn has ended: prints the answer, if it is not shown yet, and the usage. */
  end(turn: Turn): void {
    const answer = this.#answer;
    this.#answer = null;
    if (turn.status === 'completed' && answer !== null)
      this.#screen.answer(answer.endsWith('\n') ? answer : `${answer}\n`);
    else if (answer !== null) this.#screen.note(harmless(answer));
    this.#screen.endAnswer();
    if (turn.status === 'interrupted') this.#screen.note('interrupted');
    if (turn.error !== null) this.#screen.note(...problemLines(turn.error, this.#screen));
    if (this.#usage !== null)
      this.#screen.note(this.#screen.paint('dim', usageLine(this.#usage, turn)));
  }

  #start(item: ThreadItem): void {
    if (item.type === 'agentMessage' || item.type === 'plan') {
      this.#flush();
      return;
    }
    const lines = startLines(item, this.#screen);
    if (lines === null) return;
    this.#note(lines);
    this.#announced = item.id;
  }

  #stream(itemId: string, delta: string): void {
    if (!this.#screen.answersToTerminal) return;
    if (this.#streaming?.itemId !== itemId) {
      this.#screen.endAnswer();
      this.#streaming = { itemId, text: new StreamedText() };
    }
    this.#screen.answer(this.#streaming.text.push(delta));
    this.#announced = null;
  }

  #complete(item: ThreadItem): void {
    if (item.type === 'agentMessage' || item.type === 'plan') {
      this.#completeMessage(item);
      return;
    }
    const lines = itemLines(item, this.#screen);
    const heading = this.#announced === item.id ? [] : (startLines(item, this.#screen) ?? []);
    this.#note([...heading, ...lines]);
  }

  #completeMessage({ id, text }: { id: string; text: string }): void {
    this.#announced = null;
    if (!this.#screen.answersToTerminal) {
      if (text !== '') {
        this.#flush();
        this.#answer = text;
      }
      return;
    }
    const isStreamed = this.#streaming?.itemId === id;
    this.#screen.answer(isStreamed ? (this.#streaming?.text.end() ?? '') : harmless(text));
    this.#screen.endAnswer();
    this.#streaming = null;
  }

  /** Notes the message that was the last so far: another item follows, so it is not the answer. */
  #flush(): void {
    if (this.#answer !== null) this.#screen.note(harmless(this.#answer));
    this.#answer = null;
  }

  /**
   * Shows lines that do not belong to the conversation: the last message so far may still be the
   * answer.
   */
  #noteBeside(lines: string[]): void {
    if (lines.length === 0) return;
    this.#announced = null;
    this.#screen.note(...lines);
  }

  #note(lines: string[]): void {
    if (lines.length === 0) return;
    this.#flush();
    this.#announced = null;
    this.#screen.note(...lines);
  }

  #retry({ message, additionalDetails }: TurnError): void {
    const text =
      message === this.#lastError
        ? (additionalDetails ?? '')
        : [message, additionalDetails ?? ''].join(' ').trim();
    this.#lastError = message;
    if (text !== '') this.#screen.note(this.#screen.paint('red', harmless(text)));
  }

  #count({ total, last }: { total: TokenUsageBreakdown; last: TokenUsageBreakdown }): void {
    const before = this.#usage?.before ?? difference(total, last);
    this.#usage = { before, now: total };
  }
}

/** An error for the person who has to do something about it, in a line or two. */
export function problemLines(
  { message, additionalDetails }: Pick<TurnError, 'message' | 'additionalDetails'>,
  screen: Screen,
): string[] {
  return [
    screen.paint('red', `heddle: ${harmless(message)}`),
    ...(additionalDetails ? [harmless(additionalDetails)] : []),
  ];
}

function usageLine({ now, before }: Usage, { durationMs }: Turn): string {
  const { inputTokens, cachedInputTokens, outputTokens } = difference(now, before);
  const cached = cachedInputTokens > 0 ? ` (${cachedInputTokens} cached)` : '';
  return `tokens: ${inputTokens} in${cached}, ${outputTokens} out${durationMs === null ? '' : `; ${shownSeconds(durationMs)}`}`;
}

function difference(from: TokenUsageBreakdown, less: TokenUsageBreakdown): TokenUsageBreakdown {
  const names = Object.keys(from) as (keyof TokenUsageBreakdown)[];
  return Object.fromEntries(
    names.map((name) => [name, from[name] - less[name]]),
  ) as unknown as TokenUsageBreakdown;
}
