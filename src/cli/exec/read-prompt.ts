import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { INPUT_CHARS_MAX } from '../../agent/prompt/check-input.ts';
import { isObject, parsedJson } from '../../base/json-value.ts';
import { systemErrorCode } from '../../base/system-error-code.ts';
import { IMAGE_BYTES_MAX, imageType } from '../../model/pictures/image-type.ts';
import type { UserInput } from '../../protocol/generated/types.ts';
import { OptionError, systemReason } from '../command-line/option-error.ts';
import { readOptionFile } from '../command-line/read-option-file.ts';
import type { ExecOptions } from './exec-options.ts';

const SCHEMA_BYTES_MAX = 1024 * 1024;
/** UTF-8 has at most so many bytes for a UTF-16 code unit. */
const CHAR_BYTES_MAX = 3;
/** The time after which a person reads that stdin is still open. */
const NOTICE_MS = 1_000;

/** Where the prompt comes from. */
export interface InputSource {
  stdin: Readable & { isTTY?: boolean };
  /** Tells a person something. */
  note(text: string): void;
}

/**
 * The files of the command line, checked: the images, and the schema of the answer. Rejects with an
 * OptionError.
 */
export async function readFiles({
  images,
  outputSchema,
}: ExecOptions): Promise<{ images: UserInput[]; outputSchema: unknown }> {
  const pictures: UserInput[] = [];
  for (const image of images) {
    const bytes = await readOptionFile('--image', image, IMAGE_BYTES_MAX);
    if (imageType(bytes) === null)
      throw new OptionError(`--image ${image}: it is not a PNG, JPEG, GIF, WebP or BMP file`);
    pictures.push({ type: 'localImage', path: resolve(image) });
  }
  return {
    images: pictures,
    outputSchema: outputSchema === null ? undefined : await readSchema(outputSchema),
  };
}

async function readSchema(file: string): Promise<unknown> {
  const schema = parsedJson(
    (await readOptionFile('--output-schema', file, SCHEMA_BYTES_MAX)).toString('utf8'),
  );
  if (schema === undefined) throw new OptionError(`--output-schema ${file}: it is not JSON`);
  if (!isObject(schema))
    throw new OptionError(`--output-schema ${file}: expected a JSON Schema, which is an object`);
  return schema;
}

/**
 * The text of the turn: the prompt, stdin, or the prompt with stdin behind it. A terminal is read
 * only if `-` asks for it. Rejects with an OptionError if there is no text.
 */
export async function readPrompt(
  { prompt, readsStdin }: ExecOptions,
  source: InputSource,
): Promise<string> {
  const isTerminal = source.stdin.isTTY === true;
  if (isTerminal && prompt === null && !readsStdin)
    throw new OptionError(
      'exec: there is no prompt: give it in quotes, or - to type it, or pipe it into stdin',
    );
  if (isTerminal && !readsStdin) return checked(prompt ?? '');
  const piped = await readAll(source, isTerminal);
  if (prompt === null || prompt === '') return checked(piped);
  return checked(
    piped === '' ? prompt : `${prompt}\n\n<stdin>\n${piped.replace(/\n$/, '')}\n</stdin>`,
  );
}

function checked(text: string): string {
  if (text.trim() === '')
    throw new OptionError('exec: the prompt is empty: give it in quotes, or pipe it into stdin');
  return text;
}

async function readAll({ stdin, note }: InputSource, isTerminal: boolean): Promise<string> {
  if (isTerminal) note('Type the prompt, and end it with Ctrl-D on a line of its own.');
  const timer = setTimeout(
    () => note('Reading stdin until it ends. Use </dev/null to leave it out.'),
    NOTICE_MS,
  );
  if (isTerminal) clearTimeout(timer);
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of stdin) {
      chunks.push(Buffer.from(chunk));
      length += chunk.length;
      if (length > INPUT_CHARS_MAX * CHAR_BYTES_MAX)
        throw new OptionError(`exec: stdin is too long: at most ${INPUT_CHARS_MAX} characters`);
    }
  } catch (error) {
    if (error instanceof OptionError || systemErrorCode(error) === null) throw error;
    throw new OptionError(`exec: stdin cannot be read: ${systemReason(error)}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).toString('utf8');
}
