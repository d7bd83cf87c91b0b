import type { Ids } from '../../base/ids.ts';
import { type ForeignPart, foreignOutput, imageAt } from '../../instructions/foreign-output.ts';
import type {
  DynamicToolCallOutputContentItem,
  FunctionCallOutputBody,
  FunctionCallOutputContentItem,
  ResponseItem,
  TurnStartParams,
  TurnToolOutput,
  UntimedItem,
} from '../../protocol/generated/types.ts';
import { invalidParams } from '../../protocol/rpc-error.ts';
import { checkTexts } from './check-input.ts';

/** The longest name of a tool or a namespace. */
const NAME_CHARS_MAX = 128;
const NAME = /^[a-zA-Z0-9_-]+$/;

/** Throws if the tool output of a request is invalid, or stands beside input. */
export function checkToolOutput({
  toolOutput,
  input,
}: Pick<TurnStartParams, 'toolOutput' | 'input'>): void {
  if (!toolOutput) return;
  const { name, namespace, output } = toolOutput;
  if (input.length > 0)
    throw invalidParams(
      '`toolOutput` cannot be combined with nonempty `input`: send them in two turns',
    );
  checkName(name, 'params.toolOutput.name');
  if (namespace) checkName(namespace, 'params.toolOutput.namespace');
  checkTexts(
    typeof output === 'string'
      ? [output]
      : output.flatMap((part) => (part.type === 'input_text' ? [part.text] : [])),
  );
}

/**
 * The item that shows clients a tool output as a call of a client's tool, and the call and the
 * output that the model reads: providers refuse an output alone.
 */
export async function toolOutputItems(
  { name, namespace = null, output }: TurnToolOutput,
  ids: Ids,
): Promise<{ item: UntimedItem; model: ResponseItem[] }> {
  const id = ids.next();
  const callId = `call_${id}`;
  return {
    item: {
      type: 'dynamicToolCall',
      id,
      namespace,
      tool: name,
      arguments: {},
      status: 'completed',
      contentItems: contentItems(output),
      success: true,
      durationMs: null,
    },
    model: [
      {
        type: 'function_call',
        call_id: callId,
        name,
        ...(namespace && { namespace }),
        arguments: '{}',
      },
      {
        type: 'function_call_output',
        call_id: callId,
        output: typeof output === 'string' ? output : await modelOutput(output),
      },
    ],
  };
}

/** The parts that an item can show. */
function contentItems(output: FunctionCallOutputBody): DynamicToolCallOutputContentItem[] {
  if (typeof output === 'string') return [{ type: 'inputText', text: output }];
  return output.flatMap((part): DynamicToolCallOutputContentItem[] => {
    if (part.type === 'input_text') return [{ type: 'inputText', text: part.text }];
    if (part.type === 'input_image' && part.image_url)
      return [{ type: 'inputImage', imageUrl: part.image_url }];
    return part.type === 'input_audio' && part.audio_url
      ? [{ type: 'inputAudio', audioUrl: part.audio_url }]
      : [];
  });
}

/**
 * The output for the model, with all of its texts: they are within the limit for input. Providers
 * refuse an empty list.
 */
async function modelOutput(
  parts: readonly FunctionCallOutputContentItem[],
): Promise<FunctionCallOutputBody> {
  const output = await foreignOutput(parts.map(foreignPart), Number.POSITIVE_INFINITY);
  return output.length === 0 ? '' : output;
}

function foreignPart(part: FunctionCallOutputContentItem): ForeignPart {
  switch (part.type) {
    case 'input_text':
      return { type: 'text', text: part.text };
    case 'input_image':
      return imageAt(part.image_url, part.detail ?? null);
    case 'input_audio':
      return { type: 'other', what: 'audio' };
    case 'encrypted_content':
      return { type: 'other', what: 'encrypted content' };
    default:
      return part satisfies never;
  }
}

function checkName(name: string, place: string): void {
  if (name.trim() === '') throw invalidParams(`${place} must not be empty`);
  if (!NAME.test(name) || name.length > NAME_CHARS_MAX)
    throw invalidParams(
      `${place} must have at most ${NAME_CHARS_MAX} letters, digits, "_" and "-"`,
    );
}
