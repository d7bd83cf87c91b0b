import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../base/json-value.ts';
import { isFolder } from '../../base/paths/is-folder.ts';
import { isBelow } from '../../base/paths/is-within.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import { parseYaml } from '../../instructions/skills/parse-yaml.ts';
import { splitFrontMatter } from '../../instructions/skills/split-front-matter.ts';
import { type Refused, SourceError } from './found.ts';
import { listSource, readSource } from './read-source.ts';

/** The most files of a folder and of those in it. */
const FILES_MAX = 200;
const ENTRIES_MAX = 1_000;
/** The most folders that are looked through. */
const FOLDERS_MAX = 500;
const FOLDER_DEPTH_MAX = 4;
const MARKDOWN_BYTES_MAX = 256 * 1024;

/** A Markdown file of another agent. */
export interface Markdown {
  /** The fields before the text. None if there are no lines of `---`. */
  fields: Record<string, unknown>;
  body: string;
}

/**
 * The paths of the Markdown files in a folder of another agent and, with `isDeep`, in those in it,
 * relative to it and sorted. Files that are not taken are in `refused`. Null: there is no such
 * folder. Rejects with a SourceError if the folder cannot be listed, or is a link out of `root`.
 */
export async function markdownFiles(
  folder: string,
  { root, isDeep }: { root: string; isDeep: boolean },
): Promise<{ files: string[]; refused: Refused[] } | null> {
  if (!isFolder(folder)) return null;
  if (!isBelow(realPathOrSame(folder), realPathOrSame(root)))
    throw new SourceError(`${folder} is a link out of ${root}`);
  const files: string[] = [];
  const refused: Refused[] = [];
  const refuse = (path: string, why: string) =>
    void refused.push({ source: path, message: `${path} ${why}`, failureStage: 'read' });
  // Grows while it is gone through.
  const waiting: { path: string; depth: number }[] = [{ path: '', depth: 0 }];
  const take = (entry: Dirent, path: string, depth: number) => {
    if (entry.isDirectory() && isDeep && depth < FOLDER_DEPTH_MAX)
      waiting.push({ path, depth: depth + 1 });
    if (!entry.name.endsWith('.md') || entry.isDirectory()) return;
    if (entry.isFile()) files.push(path);
    else refuse(join(folder, path), 'is a link or another special file');
  };
  let looked = 0;
  for (const { path, depth } of waiting) {
    if (looked === FOLDERS_MAX || files.length > FILES_MAX) break;
    looked += 1;
    const { entries, cut } = await listSource(join(folder, path), ENTRIES_MAX);
    for (const entry of entries) take(entry, join(path, entry.name), depth);
    if (cut)
      refuse(join(folder, path), `has more than ${ENTRIES_MAX} files: the others are left out`);
  }
  if (waiting.length > FOLDERS_MAX)
    refuse(folder, `has more than ${FOLDERS_MAX} folders: the others are left out`);
  if (files.length > FILES_MAX)
    refuse(folder, `has more than ${FILES_MAX} Markdown files: the others are left out`);
  return { files: files.sort().slice(0, FILES_MAX), refused };
}

/** Reads a Markdown file. Rejects with a SourceError if it cannot be read or understood. */
export async function readMarkdown(path: string, root: string): Promise<Markdown> {
  const text = await readSource(path, root, MARKDOWN_BYTES_MAX);
  if (text === null) throw new SourceError(`${path} is not there any more`);
  const split = splitFrontMatter(text);
  if (split === null) return { fields: {}, body: text };
  let fields: unknown;
  try {
    fields = await parseYaml(split.yaml);
  } catch (error) {
    throw new SourceError(`the front matter of ${path} is not valid YAML`, { cause: error });
  }
  return { fields: isObject(fields) ? fields : {}, body: split.body };
}
