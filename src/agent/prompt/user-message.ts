import { encodeBase64 } from '../../base/encode-base64.ts';
import { readRegularFile } from '../../base/files/read-regular-file.ts';
import { contextMessage } from '../../instructions/messages/context-message.ts';
import { IMAGE_BYTES_MAX, imageType } from '../../model/pictures/image-type.ts';
import type {
  ContentItem,
  ImageDetail,
  ResponseItem,
  UntimedItem,
  UserInput,
} from '../../protocol/generated/types.ts';

type LocalImage = Extract<UserInput, { type: 'localImage' }>;

/** The limit for the local images of one request, all together. */
const IMAGES_BYTES_MAX = 64 * 1024 * 1024;

/** The item that clients see: the input, with its defaults filled in. */
export function userMessageItem(
  id: string,
  input: readonly UserInput[],
  clientId: string | null,
): UntimedItem {
  return { type: 'userMessage', id, clientId, content: input.map(shownPart) };
}

/** Hides details of an image that clients of the older protocol do not know. */
function shownPart(part: UserInput): UserInput {
  if (part.type === 'text') return { ...part, text_elements: part.text_elements ?? [] };
  if (
    (part.type === 'image' || part.type === 'localImage') &&
    (part.detail === 'auto' || part.detail === 'low')
  )
    return { ...part, detail: null };
  return part;
}

/** The input for the model. */
interface UserMessage {
  /** The user's text and attachments; null: nothing of it is for the model. */
  message: ResponseItem | null;
  /** The server's text about attached files. Their names are not the user's words. */
  notes: ResponseItem[];
}

/**
 * Makes the messages for the model. Local images whose real paths satisfy `mayLieAt` are read now
 * and stored in the message.
 */
export async function userMessage(
  input: readonly UserInput[],
  mayLieAt: (real: string) => boolean,
): Promise<UserMessage> {
  let imageBytesLeft = IMAGES_BYTES_MAX;
  const content: ContentItem[] = [];
  const notes: string[] = [];
  for (const part of input) {
    if (part.type === 'localAudio')
      notes.push(`[The user attached the audio file ${JSON.stringify(part.path)}.]`);
    if (part.type !== 'localImage') {
      content.push(...contentOf(part));
      continue;
    }
    const image = await localImage(part, {
      bytesMax: Math.min(IMAGE_BYTES_MAX, imageBytesLeft),
      mayLieAt,
    });
    if ('problem' in image) {
      notes.push(`[The image ${JSON.stringify(part.path)} could not be read: ${image.problem}.]`);
      continue;
    }
    imageBytesLeft -= image.bytes;
    content.push(image.content);
  }
  return {
    message: content.length === 0 ? null : { type: 'message', role: 'user', content },
    notes: notes.length === 0 ? [] : [contextMessage('user', notes)],
  };
}

function contentOf(part: Exclude<UserInput, { type: 'localImage' }>): ContentItem[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'input_text', text: part.text }];
    case 'image':
      return 'url' in part && typeof part.url === 'string'
        ? [{ type: 'input_image', image_url: part.url, ...detailOf(part.detail) }]
        : [{ type: 'input_image', file_id: String(part.fileId), ...detailOf(part.detail) }];
    case 'audio':
      return 'url' in part && typeof part.url === 'string'
        ? [{ type: 'input_audio', audio_url: part.url }]
        : [{ type: 'input_audio', file_id: String(part.fileId) }];
    // Notes and skills are messages of their own, and mentions refer to them.
    case 'localAudio':
    case 'skill':
    case 'mention':
      return [];
    default:
      return part satisfies never;
  }
}

function detailOf(detail: ImageDetail | null | undefined): { detail?: ImageDetail } {
  return detail ? { detail } : {};
}

/**
 * An image as a data URL, and its size in bytes, or why it cannot be read: the turn goes on then.
 */
async function localImage(
  { path, detail }: LocalImage,
  limits: { bytesMax: number; mayLieAt(real: string): boolean },
): Promise<{ content: ContentItem; bytes: number } | { problem: string }> {
  try {
    const file = await readRegularFile(path, limits);
    if (file === null) return { problem: 'the file does not exist' };
    const type = imageType(file.bytes);
    if (type === null) return { problem: 'it is not a PNG, JPEG, GIF, WebP or BMP file' };
    const image_url = `data:${type};base64,${await encodeBase64(file.bytes)}`;
    return { content: { type: 'input_image', image_url, ...detailOf(detail) }, bytes: file.size };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
