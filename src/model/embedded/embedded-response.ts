import { cutText } from '../../base/text/cut-text.ts';
import { streamFailure } from '../http/http-failure.ts';
import type { ModelRequest } from '../model.ts';
import { AnswerWriter, type TimedEvent, words } from './answer-writer.ts';
import { type ConversationState, readConversation } from './conversation-state.ts';
import { embeddedAssessment, isReview } from './embedded-assessment.ts';
import { type EmbeddedStep, readEmbeddedSteps } from './embedded-step.ts';

const LABEL = 'The embedded model';
const QUOTED_CHARS_MAX = 400;

/** All events of the embedded model's response to a request, with the waits between them. */
export function* embeddedResponse(request: ModelRequest): Generator<TimedEvent, void, undefined> {
  const conversation = readConversation(request.input);
  const writer = new AnswerWriter(request);
  yield { type: 'started' };
  if (isReview(request)) {
    yield* writer.message([embeddedAssessment(request)]);
    yield { type: 'completed', usage: writer.usage() };
    return;
  }
  const steps = stepsOfThisResponse(
    readEmbeddedSteps(conversation.userText),
    conversation.calls.length,
  );
  for (const step of steps) {
    if (step.do === 'fail') {
      yield {
        type: 'failed',
        error: streamFailure(
          { label: LABEL, secrets: [] },
          { code: step.code, message: `asked to fail with ${step.code}` },
        ).error,
      };
      return;
    }
    yield* stepEvents(writer, step);
  }
  if (!steps.some((step) => step.do === 'say' || step.do === 'repeat' || step.do === 'call'))
    yield* closing(writer, conversation, steps);
  yield { type: 'completed', usage: writer.usage() };
}

/**
 * Returns the steps of one response: up to and including a run of calls. The next response
 * continues after those calls.
 */
function stepsOfThisResponse(steps: EmbeddedStep[], callsMade: number): EmbeddedStep[] {
  let calls = 0;
  const start =
    callsMade === 0
      ? 0
      : steps.findIndex((step) => step.do === 'call' && ++calls === callsMade) + 1;
  const rest = callsMade > 0 && start === 0 ? [] : steps.slice(start);
  const end = rest.findIndex((step, index) => step.do === 'call' && rest[index + 1]?.do !== 'call');
  return end === -1 ? rest : rest.slice(0, end + 1);
}

/** Makes sure that every response has a message. */
function* closing(
  writer: AnswerWriter,
  { userText, calls }: ConversationState,
  steps: EmbeddedStep[],
): Generator<TimedEvent, void, undefined> {
  if (calls.length > 0) {
    yield* writer.message(
      words(
        calls
          .map(({ name, output }) => `${name} answered: ${quote(output ?? 'nothing')}`)
          .join('\n\n'),
      ),
    );
    return;
  }
  if (!steps.some((step) => step.do === 'think'))
    yield* writer.reasoning({
      summary: [words('**Reading the message** I look for lines that I can carry out.')],
    });
  yield* writer.message(words(introduction(userText)));
}

function introduction(userText: string): string {
  return [
    'I am the embedded model. I work offline and carry out the lines of a message.',
    userText === '' ? '' : `You wrote: ${quote(userText)}`,
    'Write one request per line: `call NAME {"json": "arguments"}`, `say TEXT`, `think TEXT`, `repeat N WORD`, `wait MS`, `fail CODE`. For a real model, set model_provider in config.toml.',
  ]
    .filter((paragraph) => paragraph !== '')
    .join('\n\n');
}

function* stepEvents(
  writer: AnswerWriter,
  step: Exclude<EmbeddedStep, { do: 'fail' }>,
): Generator<TimedEvent, void, undefined> {
  switch (step.do) {
    case 'say':
      return yield* writer.message(words(step.text));
    case 'repeat':
      return yield* writer.message(repeated(step.word, step.times));
    case 'think':
      return yield* writer.reasoning({ summary: [words(step.text)] });
    case 'wait':
      return yield { waitMs: step.ms };
    case 'call':
      return yield* writer.call({ name: step.name, arguments: step.arguments });
    default:
      return step satisfies never;
  }
}

function* repeated(word: string, times: number): Generator<string, void, undefined> {
  for (let index = 0; index < times; index++) yield `${word} `;
}

function quote(text: string): string {
  const characters = text.length > QUOTED_CHARS_MAX ? `${cutText(text, QUOTED_CHARS_MAX)}…` : text;
  return `"${characters}"`;
}
