import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { openRegularFile } from '../../../base/files/open-regular-file.ts';
import { hasErrorCode } from '../../../base/system-error-code.ts';
import { isSafeSqlite } from './is-safe-sqlite.ts';

/** The versions of the Node that runs this process, as in `process.versions`. */
export interface NodeVersions {
  node: string;
  /** The version of the interface for native packages. */
  modules: string;
  /** The version of Node's own SQLite. Absent: it has none. */
  sqlite?: string;
}

/** The major versions of Node, by the version of their interface for native packages. */
const NODE_OF_MODULES: Record<string, string> = {
  115: 'Node 20',
  120: 'Node 21',
  127: 'Node 22',
  131: 'Node 23',
  137: 'Node 24',
  141: 'Node 25',
};
/** A native package exports a function of this name and the version. */
const REGISTERS = /node_register_module_v(\d+)/;
const REGISTERS_CHARS_MAX = 32;
const CHUNK_BYTES = 64 * 1024;

/**
 * Whether heddle can use Node's own SQLite. That of Node 22 reads text only up to a NUL character,
 * whatever its version, and writes a warning to stderr.
 */
export function hasUsableSqlite({ node, sqlite }: Omit<NodeVersions, 'modules'>): boolean {
  return sqlite !== undefined && isSafeSqlite(sqlite) && Number.parseInt(node, 10) >= 24;
}

/**
 * Returns why the store cannot work with this Node, with the solution, or null if it can. Looks
 * only at the file of better-sqlite3, and does not load it.
 */
export async function nativeBuildProblem(versions: NodeVersions): Promise<string | null> {
  if (hasUsableSqlite(versions)) return null;
  const built = await builtFor();
  return built === versions.modules ? null : wrongNode(built, versions);
}

/**
 * The text for a better-sqlite3 that was built for another Node. `built` is null if it was not
 * built at all.
 */
export function wrongNode(built: string | null, { node, modules }: NodeVersions): string {
  const state =
    built === null
      ? 'better-sqlite3 is not built'
      : `better-sqlite3 is built for ${nodeOf(built)} (NODE_MODULE_VERSION ${built})`;
  return (
    `threads cannot be stored: ${state}, and heddle runs with Node ${node} (NODE_MODULE_VERSION ${modules}), which has no SQLite that it can use. ` +
    `Run \`npm rebuild better-sqlite3\` with this Node in ${packageFolder('../..')}${built === null ? '' : `, or start heddle with ${nodeOf(built)}`}`
  );
}

function nodeOf(modules: string): string {
  return NODE_OF_MODULES[modules] ?? 'another Node';
}

/** The NODE_MODULE_VERSION that better-sqlite3 was built for. Returns null if there is no build. */
async function builtFor(): Promise<string | null> {
  try {
    const { file } = await openRegularFile(
      join(packageFolder('.'), 'build', 'Release', 'better_sqlite3.node'),
    );
    try {
      const buffer = Buffer.alloc(CHUNK_BYTES);
      for (let rest = ''; ; ) {
        const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, null);
        const text = rest + buffer.toString('latin1', 0, bytesRead);
        const version = REGISTERS.exec(text)?.[1];
        if (version !== undefined || bytesRead === 0) return version ?? null;
        rest = text.slice(-REGISTERS_CHARS_MAX);
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    if (hasErrorCode(error, ['ENOENT', 'MODULE_NOT_FOUND'])) return null;
    throw error;
  }
}

function packageFolder(path: string): string {
  return join(dirname(createRequire(import.meta.url).resolve('better-sqlite3/package.json')), path);
}
