import { createHash } from 'node:crypto';
import type { ToolSpec } from './model.ts';

/** The longest name of a function that APIs accept. */
const NAME_CHARS_MAX = 64;
const HASH_CHARS = 8;

/**
 * The name of a tool for an API without namespaces: `namespace__name`. One that is too long ends
 * with a hash instead, so that different tools have different names.
 */
export function flatToolName(name: string, namespace: string | null | undefined): string {
  const flat = namespace ? `${namespace}__${name}` : name;
  if (flat.length <= NAME_CHARS_MAX) return flat;
  const hash = createHash('sha256').update(flat).digest('hex').slice(0, HASH_CHARS);
  return `${flat.slice(0, NAME_CHARS_MAX - HASH_CHARS - 1)}_${hash}`;
}

/** The flat name of a tool. */
export function flatSpecName(spec: ToolSpec): string {
  return flatToolName(spec.name, spec.type === 'function' ? spec.namespace?.name : null);
}
