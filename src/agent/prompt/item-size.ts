import { CHARS_PER_TOKEN, estimateTokens } from '../../base/text/estimate-tokens.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';

/** An image takes about as many tokens as its pixels need, whatever the length of its data. */
const IMAGE_TOKENS = 1_600;
/** Encrypted content is base64. */
const ENCRYPTED_BYTES_PER_TOKEN = (CHARS_PER_TOKEN * 4) / 3;
/** The bytes of a member besides its text. */
const MEMBER_BYTES = 8;

interface Size {
  /** Approximately the bytes of the item's JSON. */
  bytes: number;
  /** A quarter of the bytes of the item's content. */
  tokens: number;
}

/** Estimates the size of an item. */
export function itemSize(item: ResponseItem): Size {
  const size = { bytes: 0, tokens: 0 };
  add(size, '', item);
  size.tokens = Math.ceil(size.tokens);
  return size;
}

function add(size: Size, name: string, value: unknown): void {
  if (typeof value === 'string') {
    const bytes = Buffer.byteLength(value);
    size.bytes += bytes;
    size.tokens += stringTokens(name, bytes);
  } else if (Array.isArray(value)) for (const element of value) add(size, name, element);
  else if (typeof value === 'object') {
    for (const key in value) {
      size.bytes += key.length + MEMBER_BYTES;
      add(size, key, (value as Record<string, unknown>)[key]);
    }
  }
}

/** Members that name something are not content. */
function stringTokens(name: string, bytes: number): number {
  switch (name) {
    case 'type':
    case 'id':
    case 'call_id':
    case 'role':
    case 'status':
    case 'phase':
    case 'detail':
      return 0;
    case 'image_url':
      return IMAGE_TOKENS;
    case 'encrypted_content':
      return estimateTokens(bytes, ENCRYPTED_BYTES_PER_TOKEN);
    default:
      return estimateTokens(bytes);
  }
}
