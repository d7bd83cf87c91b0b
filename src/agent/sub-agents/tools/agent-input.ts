import { resolve } from 'node:path';
import type { JsonObject, JsonValue } from '../../../base/json-value.ts';
import type { UserInput } from '../../../protocol/generated/types.ts';
import {
  BadArguments,
  objectListField,
  requireText,
  stringField,
  textField,
} from '../../../tools/bad-arguments.ts';
import { INPUT_CHARS_MAX } from '../../prompt/check-input.ts';

const ITEMS_MAX = 64;

/**
 * The fields of a call that give an agent its input, for the model. `message`: what the message is.
 */
export function inputParameters(message: string): Record<string, JsonValue> {
  const text = (description: string) => ({ type: 'string', description });
  return {
    message: text(`${message} Pass either this or items.`),
    items: {
      type: 'array',
      description:
        'The message in parts, to show the agent images, or to name skills. Pass either this or message.',
      items: {
        type: 'object',
        properties: {
          type: text('text, image, local_image, audio, local_audio, skill or mention.'),
          text: text('With text: the text.'),
          image_url: text('With image: the image as a data URL.'),
          audio_url: text('With audio: the recording as a data URL.'),
          path: text(
            'With local_image and local_audio: the path of the file. With skill: that of its SKILL.md. With mention: its target.',
          ),
          name: text('With skill and mention: the name.'),
        },
        required: ['type'],
        additionalProperties: false,
      },
    },
  };
}

/** The input that a call gives an agent. Relative paths start from `cwd`. Throws BadArguments. */
export function agentInput(fields: JsonObject, cwd: string): UserInput[] {
  const message = textField(fields, 'message');
  const hasItems = (fields.items ?? null) !== null;
  if (message === null && !hasItems)
    throw new BadArguments('`message` is missing: pass the message for the agent as a string.');
  if (message !== null && hasItems)
    throw new BadArguments('pass either `message` or `items`, not both.');
  const input =
    message !== null
      ? [textPart(message)]
      : objectListField(fields, 'items', [1, ITEMS_MAX]).map((item) => part(item, cwd));
  if (input.every(({ type }) => type === 'mention'))
    throw new BadArguments('`items` must say what to do: add one of the type text.');
  const length = input.reduce(
    (sum, each) => sum + (each.type === 'text' ? each.text.length : 0),
    0,
  );
  if (length > INPUT_CHARS_MAX)
    throw new BadArguments(`the message must have at most ${INPUT_CHARS_MAX} characters.`);
  return input;
}

/** The input as one text, for the item that shows the call. */
export function inputText(input: readonly UserInput[]): string {
  return input.map(partText).join('\n');
}

function part(item: JsonObject, cwd: string): UserInput {
  const type = stringField(item, 'type');
  switch (type) {
    case 'text':
      return textPart(requireText(item, 'text', 'the text of each item of the type text'));
    case 'image':
      return { type, url: dataUrl(item, 'image') };
    case 'audio':
      return { type, url: dataUrl(item, 'audio') };
    case 'local_image':
      return { type: 'localImage', path: resolve(cwd, path(item, type)) };
    case 'local_audio':
      return { type: 'localAudio', path: resolve(cwd, path(item, type)) };
    case 'skill':
      return { type, name: name(item, type), path: resolve(cwd, path(item, type)) };
    case 'mention':
      return { type, name: name(item, type), path: path(item, type) };
    default:
      throw new BadArguments(
        'each of `items` needs a `type`: text, image, local_image, audio, local_audio, skill or mention.',
      );
  }
}

function textPart(text: string): UserInput {
  return { type: 'text', text, text_elements: [] };
}

function path(item: JsonObject, type: string): string {
  return requireText(item, 'path', `the path of each item of the type ${type}`);
}

function name(item: JsonObject, type: string): string {
  return requireText(item, 'name', `the name of each item of the type ${type}`);
}

/** Other URLs are refused: the provider would connect to any host that the model names. */
function dataUrl(item: JsonObject, type: 'image' | 'audio'): string {
  const field = `${type}_url`;
  const url = requireText(item, field, `a data URL for each item of the type ${type}`);
  if (!new RegExp(`^data:${type}/`, 'i').test(url))
    throw new BadArguments(`\`${field}\` must be a data URL that begins with data:${type}/.`);
  return url;
}

function partText(input: UserInput): string {
  switch (input.type) {
    case 'text':
      return input.text;
    case 'image':
    case 'audio':
      return `[${input.type}]`;
    case 'localImage':
      return `[local_image:${input.path}]`;
    case 'localAudio':
      return `[local_audio:${input.path}]`;
    case 'skill':
    case 'mention':
      return `[${input.type}:$${input.name}](${input.path})`;
    default:
      return input satisfies never;
  }
}
