import { resolve } from 'node:path';
import { encodeBase64 } from '../base/encode-base64.ts';
import type { Env } from '../base/env.ts';
import { readRegularFile } from '../base/files/read-regular-file.ts';
import { IMAGE_BYTES_MAX, imageType } from '../model/pictures/image-type.ts';
import { failed, plainAction } from './action.ts';
import { checkedTool, requireObject, requireText } from './bad-arguments.ts';
import { mayRead } from './may-read.ts';
import { threadBounds } from './thread-bounds.ts';
import type { CallContext, Tool } from './tool.ts';

interface ViewImageOptions {
  /** Absolute: heddle's home. */
  home: string;
  /** The server's own environment. */
  env: Env;
}

/**
 * `view_image`: shows the model an image file on the machine, if its commands could also read it.
 */
export function viewImage(deps: ViewImageOptions): Tool {
  return checkedTool(
    {
      type: 'function',
      name: 'view_image',
      description:
        'Shows you an image file on this machine: PNG, JPEG, GIF, WebP or BMP. Use it for images that are not in the conversation yet.',
      parameters: {
        type: 'object',
        properties: {
          path: {
            type: 'string',
            description: 'The path of the image, absolute or relative to the working directory.',
          },
        },
        required: ['path'],
        additionalProperties: false,
      },
    },
    async (args, context) => {
      const given = requireText(requireObject(args, 'path'), 'path', 'the path of an image file');
      const path = resolve(context.settings.cwd, given);
      const image = await imageAt(path, deps, context);
      if (typeof image === 'string') return failed(image);
      const item = { type: 'imageView' as const, id: context.itemId, path };
      const output = [
        { type: 'input_image' as const, image_url: image.url, detail: 'high' as const },
      ];
      return { ...plainAction(() => ({ output, success: true, item })), item };
    },
  );
}

/** Returns the image as a data URL, or the reason for the model why it cannot be shown. */
async function imageAt(
  path: string,
  deps: ViewImageOptions,
  context: CallContext,
): Promise<{ url: string } | string> {
  const mayLieAt = await mayRead(threadBounds(context, deps));
  try {
    const file = await readRegularFile(path, { bytesMax: IMAGE_BYTES_MAX, mayLieAt });
    if (file === null) return `unable to show ${path}: the file does not exist.`;
    const type = imageType(file.bytes);
    if (type === null)
      return `unable to show ${path}: it is not a PNG, JPEG, GIF, WebP or BMP image.`;
    return { url: `data:${type};base64,${await encodeBase64(file.bytes)}` };
  } catch (error) {
    return `unable to show ${path}: ${error instanceof Error ? error.message : String(error)}`;
  }
}
