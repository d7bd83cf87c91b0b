import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { type Comment, type Node, parseSync } from 'oxc-parser';

export type { Node };

/** A file of the project's code, parsed. */
export interface SourceFile {
  /** From the root of the project, with slashes. */
  path: string;
  text: string;
  program: Node;
  comments: readonly Comment[];
}

/** The code files in these folders of the project, without those that are generated. */
export function readSource(root: string, folders: readonly string[]): SourceFile[] {
  return folders.flatMap((folder) => codeIn(root, folder)).map((path) => parsed(root, path));
}

function codeIn(root: string, folder: string): string[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile() && /\.[cm]?[jt]s$/.test(entry.name))
    .map((entry) => posix.join(entry.parentPath.slice(root.length + 1), entry.name))
    .filter((path) => !path.includes('/generated/') && !path.includes('/node_modules/'))
    .sort();
}

function parsed(root: string, path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8');
  const { program, comments, errors } = parseSync(path, text);
  if (errors[0] !== undefined) throw new Error(`${path}: ${errors[0].message}`);
  return { path, text, program, comments };
}

/** All nodes below this one, and the node itself, parents first. */
export function* nodesOf(node: Node): Generator<Node> {
  yield node;
  for (const child of Object.values(node)) {
    for (const each of Array.isArray(child) ? child : [child]) {
      if (isNode(each)) yield* nodesOf(each);
    }
  }
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}
