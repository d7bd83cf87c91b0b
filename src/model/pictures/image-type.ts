/** The largest image that is read from a file for the model. */
export const IMAGE_BYTES_MAX = 20 * 1024 * 1024;

/** The first bytes of each type of image, as hexadecimal digits. A dot matches any digit. */
const HEADERS: readonly (readonly [type: string, pattern: RegExp])[] = [
  ['image/png', /^89504e470d0a1a0a.{8}49484452/],
  ['image/jpeg', /^ffd8ff/],
  ['image/gif', /^47494638(37|39)61/],
  ['image/webp', /^52494646.{8}57454250/],
  ['image/bmp', /^424d.{8}00000000/],
];
const HEADER_BYTES = 16;

/** Whether an image's address is a web address. Images are not fetched: clients send their data. */
export function isRemoteImage(url: unknown): boolean {
  return typeof url === 'string' && /^\s*https?:/i.test(url);
}

/**
 * Returns the MIME type of an image by its first bytes. Returns null if models do not support the
 * type.
 */
export function imageType(bytes: Buffer): string | null {
  const header = bytes.toString('hex', 0, HEADER_BYTES);
  return HEADERS.find(([, pattern]) => pattern.test(header))?.[0] ?? null;
}
