import { join } from 'node:path';
import { PhotonImage } from '@silvia-odwyer/photon-node';
import { describe, expect, test } from 'vitest';
import { imageType } from '../../../src/model/pictures/image-type.ts';
import { jpegOrientation } from '../../../src/model/pictures/jpeg-orientation.ts';
import { pictureSize } from '../../../src/model/pictures/picture-size.ts';
import { scaleInWorker } from '../../../src/model/pictures/scale-in-worker.ts';
import { scalePicture } from '../../../src/model/pictures/scale-picture.ts';
import { type Picture, ScaledPictures } from '../../../src/model/pictures/scaled-pictures.ts';
import { tempFolder } from '../../config/temp-folder.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { LARGE, png, SMALL } from '../../support/pictures.ts';

const CORNERS = ['red', 'blue', 'green', 'black'];
type Corner = (typeof CORNERS)[number];

/** The size of a picture, and the colours of its corners: above from the left, and below. */
function look(bytes: Uint8Array) {
  const image = PhotonImage.new_from_byteslice(bytes);
  const [width, height, pixels] = [image.get_width(), image.get_height(), image.get_raw_pixels()];
  const colour = (x: number, y: number): Corner => {
    const at = (y * width + x) * 4;
    const [red = 0, green = 0, blue = 0] = pixels.subarray(at, at + 3);
    const most = Math.max(red, green, blue);
    return most < 100 ? 'black' : most === red ? 'red' : most === blue ? 'blue' : 'green';
  };
  const [right, low] = [width - 5, height - 5];
  return {
    width,
    height,
    corners: [colour(4, 4), colour(right, 4), colour(4, low), colour(right, low)],
    clear: pixels[3],
  };
}

function scaledPicture(picture: Picture): Picture {
  const scaled = scalePicture(picture, 2048);
  if (scaled === null) throw new Error('it cannot be decoded');
  return scaled;
}

const LYING = { width: 2048, height: 68, corners: CORNERS, clear: 255 };

const CLEAR = { ...LYING, corners: Array(4).fill('black'), clear: 128 };

describe('a large picture', () => {
  test.each([
    { name: 'a JPEG', type: 'image/jpeg', bytes: LARGE.jpeg, made: 'image/jpeg', looks: LYING },
    {
      name: 'a JPEG in CMYK',
      type: 'image/jpeg',
      bytes: LARGE.cmyk,
      made: 'image/jpeg',
      looks: LYING,
    },
    { name: 'a GIF', type: 'image/gif', bytes: LARGE.gif, made: 'image/png', looks: LYING },
    {
      name: 'an animation',
      type: 'image/gif',
      bytes: LARGE.animation,
      made: 'image/png',
      looks: LYING,
    },
    { name: 'a WebP', type: 'image/webp', bytes: LARGE.webp, made: 'image/jpeg', looks: LYING },
    {
      name: 'a half transparent WebP',
      type: 'image/webp',
      bytes: LARGE.clearWebp,
      made: 'image/png',
      looks: CLEAR,
    },
  ])('$name is scaled', ({ type, bytes, made, looks }) => {
    const scaled = scaledPicture({ type, bytes });
    const real = imageType(Buffer.from(scaled.bytes));
    expect({ type: scaled.type, real, ...look(scaled.bytes) }).toEqual({
      type: made,
      real: made,
      ...looks,
    });
  });

  test.each([
    [1, ['red', 'blue', 'green', 'black']],
    [2, ['blue', 'red', 'black', 'green']],
    [3, ['black', 'green', 'blue', 'red']],
    [4, ['green', 'black', 'red', 'blue']],
    [5, ['red', 'green', 'blue', 'black']],
    [6, ['green', 'red', 'black', 'blue']],
    [7, ['black', 'blue', 'green', 'red']],
    [8, ['blue', 'black', 'red', 'green']],
  ])('with the EXIF orientation %i is turned upright', (orientation, corners) => {
    const bytes = Buffer.from(LARGE.jpeg);
    const entry = Buffer.from([0x12, 0x01, 0x03, 0x00]);
    const at = Math.max(
      bytes.indexOf(entry) + 8,
      bytes.indexOf(Buffer.from([0x01, 0x12, 0x00, 0x03])) + 9,
    );
    bytes[at] = orientation;
    expect(jpegOrientation(bytes)).toBe(orientation);
    const size = orientation > 4 ? { width: 68, height: 2048 } : { width: 2048, height: 68 };
    expect(look(scaledPicture({ type: 'image/jpeg', bytes }).bytes)).toEqual({
      ...size,
      corners,
      clear: 255,
    });
  });
});

test('the size and the orientation of damaged headers are read without an error', () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  for (const bytes of [...Object.values(SMALL), ...Object.values(LARGE)]) {
    for (let round = 0; round < 300; round++) {
      const damaged = Buffer.from(bytes.subarray(0, 12 + random(bytes.length - 12)));
      for (let count = random(4); count > 0; count--)
        damaged[random(Math.min(200, damaged.length))] = random(256);
      const size = pictureSize(imageType(damaged) ?? '', damaged);
      expect(size === null || (size.width > 0 && size.height > 0)).toBe(true);
      expect(jpegOrientation(damaged)).toBeGreaterThanOrEqual(0);
    }
  }
});

test('a picture is scaled once, whoever asks again, and one that cannot be decoded is not tried again; one that took too long is', async () => {
  const asked: number[] = [];
  const pictures = new ScaledPictures(async ({ bytes }) => {
    asked.push(bytes.length);
    if (bytes.length === 7) return 'unfinished';
    return bytes.length === 4 ? null : { type: 'image/png', bytes: Buffer.from('x') };
  });
  const urlOf = (bytes: Buffer) => pictures.urlOf({ type: 'image/png', bytes }, 2048);
  const same = 'data:image/png;base64,eA==';
  expect(
    await Promise.all([
      urlOf(Buffer.alloc(5)),
      urlOf(Buffer.alloc(5)),
      urlOf(Buffer.alloc(4)),
      urlOf(Buffer.alloc(6)),
    ]),
  ).toEqual([same, same, null, same]);
  expect(await Promise.all([urlOf(Buffer.alloc(5)), urlOf(Buffer.alloc(4))])).toEqual([same, null]);
  expect(await Promise.all([urlOf(Buffer.alloc(7)), urlOf(Buffer.alloc(7))])).toEqual([null, null]);
  expect(asked).toEqual([5, 4, 6, 7, 7]);
});

describe('the thread that scales', () => {
  const picture = { type: 'image/png', bytes: png(4, 2) };

  test('that takes too long is ended', async () => {
    const clock = new FakeClock();
    const scaled = scaleInWorker(join(tempFolder({ 'hangs.js': 'for (;;);' }), 'hangs.js'), clock)(
      picture,
      2048,
    );
    await clock.timerOf(30_000);
    clock.advance(30_000);
    const soon = new Promise((resolve) => process.nextTick(resolve, 'not ended yet'));
    expect(await Promise.race([scaled, soon])).toBe('not ended yet');
    expect(await scaled).toBe('unfinished');
  });

  test('that ends without a result has none', async () => {
    const clock = new FakeClock();
    expect(
      await scaleInWorker(
        join(
          tempFolder({ 'ends.js': 'throw new WebAssembly.RuntimeError("unreachable")' }),
          'ends.js',
        ),
        clock,
      )(picture, 2048),
    ).toBe('unfinished');
    expect(clock.timers).toEqual([]);
  });

  test('that cannot start has no result', async () => {
    // A thread cannot be given a function, which fails like a system without resources: in the
    // constructor.
    const unsendable = { ...picture, type: (() => {}) as unknown as string };
    const clock = new FakeClock();
    expect(
      await scaleInWorker(join(tempFolder({ 'any.js': '' }), 'any.js'), clock)(unsendable, 2048),
    ).toBe('unfinished');
    expect(clock.timers).toEqual([]);
  });

  test('says which picture cannot be decoded', async () => {
    const scale = scaleInWorker(
      join(import.meta.dirname, '../../../bin/load-worker.js'),
      new FakeClock(),
    );
    expect(await scale({ type: 'image/png', bytes: png(3000, 2000, 1000) }, 2048)).toBeNull();
  });
});
