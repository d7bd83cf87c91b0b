import type { ResponseItem } from '../../protocol/generated/types.ts';

const BYTES_PER_TOKEN = 4;
/** An image takes about as many tokens as its pixels need, whatever the length of its data. */
const IMAGE_TOKENS = 1_600;
/** Encrypted content is base64. */
const ENCRYPTED_BYTES_PER_TOKEN = (BYTES_PER_TOKEN * 4) / 3;
/** Members that name something and are not content. */
const NAMES: ReadonlySet<string> = new Set(['type', 'id', 'call_id', 'role', 'status', 'phase', 'detail']);

/** Estimates the tokens of an item: a quarter of the bytes of its content. */
export function itemTokens(item: ResponseItem): number {
  return Math.ceil(tokens('', item));
}

function tokens(name: string, value: unknown): number {
  if (typeof value === 'string') {
    if (NAMES.has(name)) return 0;
    if (name === 'image_url') return IMAGE_TOKENS;
    return Buffer.byteLength(value) / (name === 'encrypted_content' ? ENCRYPTED_BYTES_PER_TOKEN : BYTES_PER_TOKEN);
  }
  if (typeof value !== 'object' || value === null) return 0;
  let sum = 0;
  if (Array.isArray(value)) for (const element of value) sum += tokens(name, element);
  else for (const [key, member] of Object.entries(value)) sum += tokens(key, member);
  return sum;
}
