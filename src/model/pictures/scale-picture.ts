import { fliph, PhotonImage, resize, rotate, SamplingFilter } from '@silvia-odwyer/photon-node';
import { jpegOrientation } from './jpeg-orientation.ts';
import type { Picture } from './scaled-pictures.ts';

const JPEG_QUALITY = 85;

/**
 * Scales a picture so that its longer side has `sideMax` pixels, and turns it upright. Of an
 * animation, takes the first picture. Returns null if it cannot be decoded. The library must not be
 * used again in this thread then: it gets back neither its stack nor its memory.
 */
export function scalePicture(picture: Picture, sideMax: number): Picture | null {
  try {
    return scale(picture, sideMax);
  } catch {
    // The library throws strings and errors of WebAssembly.
    return null;
  }
}

function scale({ bytes, type }: Picture, sideMax: number): Picture {
  const whole = PhotonImage.new_from_byteslice(bytes);
  const factor = sideMax / Math.max(whole.get_width(), whole.get_height());
  const side = (length: number) => Math.max(1, Math.round(length * factor));
  const scaled = resize(
    whole,
    side(whole.get_width()),
    side(whole.get_height()),
    SamplingFilter.Triangle,
  );
  whole.free();
  const upright = type === 'image/jpeg' ? turned(scaled, jpegOrientation(bytes)) : scaled;
  const asJpeg = type === 'image/jpeg' || (type === 'image/webp' && isOpaque(upright));
  return asJpeg
    ? { type: 'image/jpeg', bytes: upright.get_bytes_jpeg(JPEG_QUALITY) }
    : { type: 'image/png', bytes: upright.get_bytes() };
}

/**
 * The eight orientations of EXIF: an angle, and whether the picture is mirrored after it was
 * turned.
 */
const ORIENTATIONS: Readonly<Record<number, readonly [angle: number, isMirrored: boolean]>> = {
  2: [0, true],
  3: [180, false],
  4: [180, true],
  5: [90, true],
  6: [90, false],
  7: [270, true],
  8: [270, false],
};

function turned(image: PhotonImage, orientation: number): PhotonImage {
  const [angle, isMirrored] = ORIENTATIONS[orientation] ?? [0, false];
  const result = angle === 0 ? image : rotate(image, angle);
  if (isMirrored) fliph(result);
  return result;
}

function isOpaque(image: PhotonImage): boolean {
  const pixels = image.get_raw_pixels();
  for (let at = 3; at < pixels.length; at += 4) if (pixels[at] !== 255) return false;
  return true;
}
