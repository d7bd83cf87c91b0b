import { walkJson } from '../../base/json-value.ts';
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
  let bytes = 0;
  let content = 0;
  let encrypted = 0;
  let images = 0;
  walkJson(item, (part, key, _depth, isElement) => {
    if (key !== null && !isElement) bytes += key.length + MEMBER_BYTES;
    if (typeof part !== 'string') return true;
    const length = Buffer.byteLength(part);
    bytes += length;
    switch (key ?? '') {
      // Members that name something are not content.
      case 'type':
      case 'id':
      case 'call_id':
      case 'role':
      case 'status':
      case 'phase':
      case 'detail':
        break;
      case 'image_url':
        images++;
        break;
      case 'encrypted_content':
        encrypted += length;
        break;
      default:
        content += length;
    }
    return false;
  });
  const tokens = estimateTokens(content) + estimateTokens(encrypted, ENCRYPTED_BYTES_PER_TOKEN);
  return { bytes, tokens: Math.ceil(tokens + images * IMAGE_TOKENS) };
}
