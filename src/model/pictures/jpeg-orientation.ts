const APP1 = 0xe1;
const START_OF_SCAN = 0xda;
const ORIENTATION_TAG = 0x0112;

/**
 * Returns the orientation that the EXIF data of a JPEG image names, 1 to 8. Without one, or with
 * broken data: 1, which is upright.
 */
export function jpegOrientation(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    for (
      let at = 2;
      view.getUint8(at) === 0xff && view.getUint8(at + 1) !== START_OF_SCAN;
      at += 2 + view.getUint16(at + 2)
    ) {
      const isExif = view.getUint8(at + 1) === APP1 && view.getUint32(at + 4) === 0x45786966;
      if (isExif) return tiffOrientation(view, at + 10);
    }
  } catch (error) {
    // The data is cut off.
    if (!(error instanceof RangeError)) throw error;
  }
  return 1;
}

/** Reads the first directory of the TIFF file in the EXIF data. */
function tiffOrientation(view: DataView, start: number): number {
  const isLittle = view.getUint16(start) === 0x4949;
  const directory = start + view.getUint32(start + 4, isLittle);
  const count = view.getUint16(directory, isLittle);
  for (let index = 0; index < count; index++) {
    const entry = directory + 2 + index * 12;
    if (view.getUint16(entry, isLittle) === ORIENTATION_TAG)
      return view.getUint16(entry + 8, isLittle);
  }
  return 1;
}
