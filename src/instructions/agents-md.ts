import { join } from 'node:path';
import { type FileContent, readRegularFileSync } from '../base/files/read-regular-file.ts';
import { isBelow } from '../base/paths/is-within.ts';
import { realPathOrSame } from '../base/paths/real-path.ts';
import { projectFolders } from '../config/trust/project-folders.ts';

const HOME_BYTES_MAX = 64 * 1024;
/** In each folder the first of these that exists counts. */
export const INSTRUCTION_FILES: readonly string[] = ['AGENTS.override.md', 'AGENTS.md'];

export interface AgentsMdOptions {
  home: string;
  cwd: string;
  /** How many bytes of the project's files are read in total; 0 leaves them out. */
  projectBytesMax: number;
  /** Names to look for in a project folder without an AGENTS.md. */
  fallbackFileNames: readonly string[];
  /**
   * Whether a file of the project may be read. Its argument is a path without links. It may throw
   * if it cannot be found out.
   */
  mayBeRead(real: string): boolean;
}

/** The instruction files that apply, as plain data. */
export interface AgentsMd {
  /** The project's root, which the files apply to. */
  folder: string;
  /** Absolute paths, in the order in which `text` has them. */
  sources: string[];
  /** Empty if there are no instructions. */
  text: string;
}

/**
 * Reads the AGENTS.md of the home, then those of the project's folders from its root down to the
 * cwd. In each folder AGENTS.override.md replaces AGENTS.md. Only regular files are read, and in
 * the project only those inside it: symbolic links that lead out of it are skipped, and so are
 * files that cannot or may not be read.
 */
export function readAgentsMd({
  home,
  cwd,
  projectBytesMax,
  fallbackFileNames,
  mayBeRead,
}: AgentsMdOptions): AgentsMd {
  const { root, folders } = projectFolders(cwd);
  const files: InstructionFile[] = [];
  let bytesLeft = projectBytesMax;
  const homeFile = findFile(home, INSTRUCTION_FILES, {
    bytesMax: HOME_BYTES_MAX,
    mayLieAt: () => true,
  });
  const mayLieAt = (real: string) => isBelow(real, root) && mayBeRead(real);
  if (homeFile !== null) files.push(homeFile);
  for (const folder of folders) {
    if (bytesLeft <= 0) break;
    const file = findFile(folder, [...INSTRUCTION_FILES, ...fallbackFileNames], {
      bytesMax: bytesLeft,
      mayLieAt,
    });
    // A thread may work in the home itself; its file is included only once.
    if (file === null || file.real === homeFile?.real) continue;
    bytesLeft -= file.bytes.length;
    files.push(file);
  }
  const texts = files
    .map((file) => [file.path, textOf(file)] as const)
    .filter(([, text]) => text !== '');
  return {
    folder: root,
    sources: texts.map(([path]) => path),
    text: texts.map(([path, text]) => `From ${path}:\n\n${text}`).join('\n\n'),
  };
}

interface InstructionFile extends FileContent {
  path: string;
  /** With symbolic links resolved. */
  real: string;
}

interface FindOptions {
  bytesMax: number;
  mayLieAt(real: string): boolean;
}

/**
 * Returns the first of the names that is a regular file whose real path satisfies `mayLieAt`; else
 * null.
 */
function findFile(
  folder: string,
  names: readonly string[],
  options: FindOptions,
): InstructionFile | null {
  for (const name of names) {
    const path = join(folder, name);
    const real = realPathOrSame(path);
    const read = tryRead(real, options);
    if (read !== null) return { path, real, ...read };
  }
  return null;
}

function tryRead(path: string, { bytesMax, mayLieAt }: FindOptions): FileContent | null {
  try {
    return readRegularFileSync(path, { bytesMax, cut: true, mayLieAt });
  } catch {
    // A folder with that name, or a file that may not be read: the thread works without it.
    return null;
  }
}

function textOf({ bytes, size }: InstructionFile): string {
  const cut = bytes.length < size;
  // In stream mode the decoder leaves out a character that the cut split.
  const text = new TextDecoder().decode(bytes, { stream: cut }).trim();
  return cut ? `${text}\n\n[truncated after ${bytes.length} of ${size} bytes]` : text;
}
