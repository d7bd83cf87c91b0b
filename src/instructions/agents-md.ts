import { join } from 'node:path';
import { isBelow } from '../base/is-within.ts';
import { projectFolders, realPath } from '../config/layers/project-folders.ts';
import { readRegularFile } from '../config/read-regular-file.ts';

const HOME_BYTES_MAX = 64 * 1024;
/** In each folder the first of these counts. */
export const INSTRUCTION_FILES: readonly string[] = ['AGENTS.override.md', 'AGENTS.md'];

export interface AgentsMdOptions {
  home: string;
  cwd: string;
  /** How much of the project's files, all together, is read; 0 leaves them out. */
  projectBytesMax: number;
  /** Names to look for in a project's folder that has no AGENTS.md. */
  fallbackFileNames: readonly string[];
}

/** The instruction files in force, as data. */
export interface AgentsMd {
  /** The folder that the files are about: the project's root. */
  folder: string;
  /** Absolute paths, in the order of the text. */
  sources: string[];
  /** Empty where there are no instructions. */
  text: string;
}

/**
 * Reads the AGENTS.md of the home, then those of the project's folders from its root down to the cwd. In each folder
 * AGENTS.override.md takes the place of AGENTS.md. Only regular files count, and in the project only those that lie in
 * it: a symbolic link that leads out is passed over. Files that cannot be read are passed over too.
 */
export function readAgentsMd({ home, cwd, projectBytesMax, fallbackFileNames }: AgentsMdOptions): AgentsMd {
  const { root, folders } = projectFolders(cwd);
  const files: InstructionFile[] = [];
  let bytesLeft = projectBytesMax;
  const homeFile = findFile(home, INSTRUCTION_FILES, HOME_BYTES_MAX, null);
  if (homeFile !== null) files.push(homeFile);
  for (const folder of folders) {
    if (bytesLeft <= 0) break;
    const file = findFile(folder, [...INSTRUCTION_FILES, ...fallbackFileNames], bytesLeft, root);
    // A thread may work in the home itself: its file is said once.
    if (file === null || file.real === homeFile?.real) continue;
    bytesLeft -= file.bytes.length;
    files.push(file);
  }
  const texts = files.map((file) => [file.path, textOf(file)] as const).filter(([, text]) => text !== '');
  return {
    folder: root,
    sources: texts.map(([path]) => path),
    text: texts.map(([path, text]) => `From ${path}:\n\n${text}`).join('\n\n'),
  };
}

interface InstructionFile {
  path: string;
  /** With symbolic links resolved. */
  real: string;
  bytes: Buffer;
  /** Of the whole file. */
  size: number;
}

/** The first of the names that is a readable regular file; inside `root`, unless that is null. */
function findFile(folder: string, names: readonly string[], bytesMax: number, root: string | null): InstructionFile | null {
  for (const name of names) {
    const path = join(folder, name);
    const real = realPath(path);
    if (root !== null && !isBelow(real, root)) continue;
    const read = tryRead(real, bytesMax, root);
    if (read !== null) return { path, real, ...read };
  }
  return null;
}

function tryRead(path: string, bytesMax: number, root: string | null): { bytes: Buffer; size: number } | null {
  try {
    return readRegularFile(path, bytesMax, (real) => root === null || isBelow(real, root));
  } catch {
    // A folder of that name, or a file without permission: the thread works without it.
    return null;
  }
}

function textOf({ bytes, size }: InstructionFile): string {
  const cut = bytes.length < size;
  // Streaming, the decoder keeps back a character that the cut went through.
  const text = new TextDecoder().decode(bytes, { stream: cut }).trim();
  return cut ? `${text}\n\n[cut after ${bytes.length} of ${size} bytes]` : text;
}
