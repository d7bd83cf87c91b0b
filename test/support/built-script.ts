import { mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { buildSync } from 'esbuild';

const root = dirname(dirname(import.meta.dirname));
const built = new Map<string, string>();

/**
 * Builds the script of a thread from its source, and returns its path. It is below the root, so
 * that it finds the packages that it imports.
 */
export function builtScript(source: string): string {
  const known = built.get(source);
  if (known !== undefined) return known;
  const script = join(root, '.cache', 'test', `${basename(source, '.ts')}.${process.pid}.cjs`);
  mkdirSync(dirname(script), { recursive: true });
  const options = { bundle: true, platform: 'node', format: 'cjs', packages: 'external' } as const;
  buildSync({ ...options, absWorkingDir: root, entryPoints: [source], outfile: script });
  built.set(source, script);
  return script;
}
