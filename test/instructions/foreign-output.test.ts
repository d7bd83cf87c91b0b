import { describe, expect, test } from 'vitest';
import { type ForeignPart, foreignOutput, imageAt } from '../../src/instructions/foreign-output.ts';
import { PNG } from '../mcp/mcp-thread.ts';

const base64 = (bytes: number[] | string) =>
  Buffer.from(bytes as string, 'latin1').toString('base64');
const JPEG = base64('\xff\xd8\xff\xe0\0\x10JFIF\0');
const GIF = base64('GIF89a\0\0\0\0\0\0');
const WEBP = base64('RIFF\0\0\0\0WEBPVP8 ');
const text = (of: string): ForeignPart => ({ type: 'text', text: of });
const image = (data: string): ForeignPart => ({ type: 'image', data, detail: 'high' });
const inputImage = (type: string, data: string) => ({
  type: 'input_image',
  image_url: `data:${type};base64,${data}`,
  detail: 'high',
});
const note = (leftOut: string) => ({
  type: 'input_text',
  text: `[Left out of this result: ${leftOut}.]`,
});
const NOT_IMAGE = 'an image that is not a PNG, JPEG, GIF or WebP file in Base64';

describe('foreignOutput', () => {
  test('images have the type of their first bytes', async () => {
    expect(await foreignOutput([PNG, JPEG, GIF, WEBP].map(image), 100)).toEqual([
      inputImage('image/png', PNG),
      inputImage('image/jpeg', JPEG),
      inputImage('image/gif', GIF),
      inputImage('image/webp', WEBP),
    ]);
  });

  test.each<[string, string]>([
    ['SVG', base64('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['TIFF', base64('II*\0\b\0\0\0')],
    ['BMP', base64('BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0')],
    ['a text', 'AAAA'],
    ['nothing', ''],
    ['a PNG that is not Base64', `${PNG.slice(0, 40)}\n${PNG.slice(40)}`],
    ['Base64 of URLs', PNG.replace('W', '_')],
  ])('an image that is %s is left out', async (_, data) => {
    expect(await foreignOutput([text('see'), image(data)], 100)).toEqual([
      { type: 'input_text', text: 'see' },
      note(`1 × ${NOT_IMAGE}`),
    ]);
  });

  test.each<[string | null, object]>([
    [`data:image/svg+xml;base64,${PNG}`, inputImage('image/png', PNG)],
    [`DATA:image/png;charset=utf-8;base64,${PNG}`, inputImage('image/png', PNG)],
    [`data:image/png,${PNG}`, note('1 × an image that is not a Base64 data URL')],
    ['https://example.com/x.png', note('1 × an image that is not a Base64 data URL')],
    [null, note('1 × an image that is not a Base64 data URL')],
  ])('an image at %s', async (url, part) => {
    expect(await foreignOutput([imageAt(url, 'high')], 100)).toEqual([part]);
  });

  test('has at most 16 images, and 20 MiB of them', async () => {
    const many = await foreignOutput(
      Array.from({ length: 20 }, () => image(PNG)),
      100,
    );
    expect(many).toHaveLength(17);
    expect(many.at(-1)).toEqual(note('4 × an image beyond the first 16, or beyond 20 MiB'));
    const large = Buffer.concat([
      Buffer.from(PNG, 'base64'),
      Buffer.alloc(12 * 1024 * 1024),
    ]).toString('base64');
    const two = await foreignOutput([image(large), image(large), image(PNG)], 100);
    expect(two.map(({ type }) => type)).toEqual(['input_image', 'input_image', 'input_text']);
  });

  test('texts share the limit, and images do not count', async () => {
    const parts = [text('a'.repeat(60)), image(PNG), text('b'.repeat(60)), text('c'), text('d')];
    expect(await foreignOutput(parts, 100)).toEqual([
      { type: 'input_text', text: 'a'.repeat(60) },
      inputImage('image/png', PNG),
      {
        type: 'input_text',
        text: `${'b'.repeat(20)}\n[… 20 characters truncated …]\n${'b'.repeat(20)}`,
      },
      note('2 × a text beyond the limit'),
    ]);
  });

  test('has at most 500 parts and a note, however many there are', async () => {
    const output = await foreignOutput(
      [...Array.from({ length: 400_000 }, () => text('')), { type: 'other', what: 'audio' }],
      100,
    );
    expect(output).toHaveLength(501);
    expect(output.at(-1)).toEqual(note('399500 × a part beyond the first 500; 1 × audio'));
  });
});
