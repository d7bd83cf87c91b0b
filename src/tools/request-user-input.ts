import { isObject, type JsonValue } from '../base/json-value.ts';
import type { Answer } from '../protocol/answer.ts';
import type { ToolRequestUserInputQuestion } from '../protocol/generated/types.ts';
import { failed, plainAction } from './action.ts';
import type { CallContext, Tool } from './tool.ts';

const QUESTIONS_MAX = 3;
const OPTIONS_MAX = 10;

/** `request_user_input`: asks the user a few questions with answers to choose from, in the modes that allow it. */
export function requestUserInput({ inDefaultMode }: { inDefaultMode: boolean }): Tool {
  return { spec: spec(inDefaultMode), prepare: (args, context) => prepare(args, context, inDefaultMode) };
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
              id: { type: 'string', description: 'A unique name in snake_case that identifies the question in the answers.' },
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
                    description: { type: 'string', description: 'The effect of this answer, in one sentence.' },
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

async function prepare(
  args: JsonValue,
  { threadId, turnId, callId, settings }: CallContext,
  inDefaultMode: boolean,
): ReturnType<Tool['prepare']> {
  const { mode } = settings.collaborationMode;
  if (mode !== 'plan' && !inDefaultMode)
    return failed(`request_user_input is unavailable in ${mode} mode: decide by yourself, and say what you assumed.`);
  const questions = readQuestions(args);
  if (typeof questions === 'string') return failed(`request_user_input ${questions}.`);
  return plainAction(async ({ askUser, answerMsMax }) => {
    const params = { threadId, turnId, itemId: callId, questions, isBlocking: true, autoResolutionMs: answerMsMax };
    const answer = await askUser({ method: 'item/tool/requestUserInput', params });
    if (answer.type !== 'result') return { output: JSON.stringify({ answers: {}, note: noAnswer(answer) }), success: true };
    const given = answer.result.answers;
    const answers = questions.flatMap(({ id }) => (Object.hasOwn(given, id) ? [[id, { answers: given[id]?.answers ?? [] }]] : []));
    return { output: JSON.stringify({ answers: Object.fromEntries(answers) }), success: true, author: 'user' };
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

/** Returns the questions in the form for clients, or the reason why they are invalid. */
function readQuestions(args: JsonValue): ToolRequestUserInputQuestion[] | string {
  const list = isObject(args) ? args.questions : undefined;
  if (!Array.isArray(list) || list.length < 1 || list.length > QUESTIONS_MAX)
    return `needs \`questions\`: a list of one to ${QUESTIONS_MAX}`;
  const questions: ToolRequestUserInputQuestion[] = [];
  for (const [index, entry] of list.entries()) {
    const question = readQuestion(entry as JsonValue);
    if (typeof question === 'string') return `needs questions[${index}] to have ${question}`;
    if (questions.some(({ id }) => id === question.id)) return `needs a unique \`id\` for each question: questions[${index}] repeats one`;
    questions.push(question);
  }
  return questions;
}

function readQuestion(entry: JsonValue): ToolRequestUserInputQuestion | string {
  const { id, header, question, options, isSecret } = isObject(entry) ? entry : {};
  if (!isNonEmptyString(id) || !isNonEmptyString(header) || !isNonEmptyString(question))
    return '`id`, `header` and `question`, as non-empty strings';
  if (!Array.isArray(options) || options.length < 1 || options.length > OPTIONS_MAX) return `\`options\`: a list of one to ${OPTIONS_MAX}`;
  const read = [];
  for (const option of options) {
    const { label, description } = isObject(option) ? option : {};
    if (!isNonEmptyString(label) || typeof description !== 'string') return 'a `label` and a `description` in each of its `options`';
    read.push({ label, description });
  }
  return { id, header, question, isOther: true, isSecret: isSecret === true, options: read };
}

function isNonEmptyString(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}
