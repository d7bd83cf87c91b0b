import { isAbsolute } from 'node:path';
import { isWithin } from '../../base/paths/is-within.ts';
import type { ParsedCommand } from '../parse/parse-command.ts';

/**
 * Whether a single command names its program by a path that commands cannot write. `roots` are the
 * folders that commands can write. `resolveLinks` resolves the links of an absolute path. Returns
 * true for a bare name (`trustsNames` judges names), and false for a relative path, which means
 * another program in another folder.
 */
export function hasFixedProgram(
  { commands }: ParsedCommand,
  roots: readonly string[],
  resolveLinks: (path: string) => string,
): boolean {
  const program = commands?.[0]?.words[0] ?? '';
  if (!program.includes('/')) return true;
  if (!isAbsolute(program)) return false;
  const real = resolveLinks(program);
  return !roots.some((root) => isWithin(program, root) || isWithin(real, resolveLinks(root)));
}
