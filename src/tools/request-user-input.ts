import type { JsonObject, JsonValue } from '../base/json-value.ts';
import type { Answer } from '../protocol/answer.ts';
import type { ToolRequestUserInputQuestion } from '../protocol/generated/types.ts';
import { type Action, type ActionOutcome, failed, plainAction } from './action.ts';
import {
  BadArguments,
  booleanField,
  checkedTool,
  objectListField,
  requireObject,
  requireText,
  stringField,
} from './bad-arguments.ts';
import type { CallContext, Tool } from './tool.ts';

const QUESTIONS_MAX = 3;
const OPTIONS_MAX = 10;
/** The most characters of the questions' JSON. Whoever judges by the answer reads all of it. */
const QUESTIONS_CHARS_MAX = 4_000;
/** The ids are the model's words, beside the user's answers: they have no room for sentences. */
const ID = /^[a-z0-9_]{1,64}$/;

/**
 * `request_user_input`: asks the user a few questions with answers to choose from, in the modes
 * that allow it.
 */
export function requestUserInput({ inDefaultMode }: { inDefaultMode: boolean }): Tool {
  return checkedTool(spec(inDefaultMode), (args, context) => prepare(args, context, inDefaultMode));
}

function spec(inDefaultMode: boolean): Tool['spec'] {
  return {
    type: 'function',
    name: 'request_user_input',
    description: `Asks the user one to three short questions, and waits for the answers. ${inDefaultMode ? "Ask only about decisions that are the user's." : 'Available only in plan mode.'}`,
    parameters: {
      type: 'object',
      properties: {
        questions: {
          type: 'array',
          description: 'One to three questions. Prefer one.',
          items: {
            type: 'object',
            properties: {
              id: {
                type: 'string',
                pattern: '^[a-z0-9_]{1,64}$',
                description:
                  'A unique name in snake_case, at most 64 characters, that identifies the question in the answers.',
              },
              header: { type: 'string', description: 'A title of at most 12 characters.' },
              question: { type: 'string', description: 'The question, in one sentence.' },
              options: {
                type: 'array',
                description:
                  'Two or three answers that exclude each other. Put the one that you recommend first, and end its label with "(Recommended)". Do not add an option such as "Other": the user can always write another answer.',
                items: {
                  type: 'object',
                  properties: {
                    label: { type: 'string', description: 'One to five words.' },
                    description: {
                      type: 'string',
                      description: 'The effect of this answer, in one sentence.',
                    },
                  },
                  required: ['label', 'description'],
                  additionalProperties: false,
                },
              },
            },
            required: ['id', 'header', 'question', 'options'],
            additionalProperties: false,
          },
        },
      },
      required: ['questions'],
      additionalProperties: false,
    },
  };
}

function prepare(
  args: JsonValue,
  { threadId, turnId, callId, settings }: CallContext,
  inDefaultMode: boolean,
): Action | ActionOutcome {
  const { mode } = settings.collaborationMode;
  if (mode !== 'plan' && !inDefaultMode)
    return failed(
      `request_user_input is unavailable in ${mode} mode: decide by yourself, and say what you assumed.`,
    );
  const questions = readQuestions(args);
  return plainAction(async ({ askUser, answerMsMax }) => {
    const params = {
      threadId,
      turnId,
      itemId: callId,
      questions,
      isBlocking: true,
      autoResolutionMs: answerMsMax,
    };
    const answer = await askUser({ method: 'item/tool/requestUserInput', params });
    if (answer.type !== 'result')
      return { output: JSON.stringify({ answers: {}, note: noAnswer(answer) }), success: true };
    const given = answer.result.answers;
    const answers = questions.flatMap(({ id }) =>
      Object.hasOwn(given, id) ? [[id, { answers: given[id]?.answers ?? [] }]] : [],
    );
    return {
      output: JSON.stringify({ answers: Object.fromEntries(answers) }),
      success: true,
      author: 'user',
    };
  });
}

/** Says to the model why there is no answer. */
function noAnswer(answer: Exclude<Answer<unknown>, { type: 'result' }>): string {
  switch (answer.type) {
    case 'error':
      return `The client answered with an error: ${answer.message}`;
    case 'timeout':
      return `Nobody answered within ${answer.ms / 1000} seconds.`;
    case 'clientGone':
      return 'No client is left that could answer.';
    case 'aborted':
      return 'The turn was interrupted before an answer.';
    default:
      return answer satisfies never;
  }
}

/** The questions in the form for clients. Throws BadArguments. */
function readQuestions(args: JsonValue): ToolRequestUserInputQuestion[] {
  if (JSON.stringify(args).length > QUESTIONS_CHARS_MAX)
    throw new BadArguments(
      `the questions have more than ${QUESTIONS_CHARS_MAX} characters. Ask in fewer words.`,
    );
  const list = objectListField(requireObject(args, 'questions'), 'questions', [1, QUESTIONS_MAX]);
  const questions = list.map(readQuestion);
  if (new Set(questions.map(({ id }) => id)).size < questions.length)
    throw new BadArguments('each question needs an `id` of its own.');
  return questions;
}

function readQuestion(fields: JsonObject): ToolRequestUserInputQuestion {
  const options = objectListField(fields, 'options', [1, OPTIONS_MAX]).map((option) => ({
    label: requireText(option, 'label', 'a label for each option'),
    description: stringField(option, 'description') ?? '',
  }));
  const id = requireText(fields, 'id', 'a name for each question');
  if (!ID.test(id))
    throw new BadArguments(
      'the `id` of a question has 1 to 64 characters, which are a to z, 0 to 9 and _.',
    );
  return {
    id,
    header: requireText(fields, 'header', 'a title for each question'),
    question: requireText(fields, 'question', 'the text of each question'),
    isOther: true,
    isSecret: booleanField(fields, 'isSecret') ?? false,
    options,
  };
}
