import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/**
 * Creates a folder with the given files for the running test. Its path has no symbolic links. It is
 * removed when the test ends.
 */
export function tempFolder(files: Record<string, string | Buffer> = {}): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'heddle-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFiles(folder, files);
  return folder;
}

export function writeFiles(folder: string, files: Record<string, string | Buffer>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

/** As `tempFolder`, a git repository whose folder `a/b` exists. */
export function tempRepository(files: Record<string, string | Buffer> = {}): string {
  const folder = tempFolder(files);
  mkdirSync(join(folder, '.git', 'refs'), { recursive: true });
  mkdirSync(join(folder, 'a', 'b'), { recursive: true });
  return folder;
}
