import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { textOf } from '../../base/files/text-of.ts';
import { isObject } from '../../base/json-value.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import { isOwnFailure } from '../../base/paths/stat-of.ts';

/** The files that the server was started from. */
export interface Installation {
  /** heddle's package.json. */
  manifest: string;
  /** The program that runs the server: Node, or a program that has heddle as a library. */
  executable: string;
}

/** The parts of a checkout of heddle that the server runs from. The other parts can be edited. */
const CHECKOUT_PARTS = ['bin', 'dist', 'migrations', 'node_modules/.bin', 'package.json'];
/** The folders of the system's programs, some of which the server starts outside the sandbox. */
const SYSTEM_FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
const MANIFEST_BYTES_MAX = 1024 * 1024;

/**
 * Returns the real paths of the files and folders that the server runs from, now and when it is
 * started again: heddle, the packages that it depends on, Node, and the system's programs. Commands
 * must not change them.
 */
export function serverPlaces({ manifest, executable }: Installation): string[] {
  const own = realPathOrSame(manifest);
  const packages = packagesOf(own);
  const folder = dirname(own);
  const heddle =
    basename(dirname(folder)) === 'node_modules'
      ? [folder, join(dirname(folder), '.bin')]
      : CHECKOUT_PARTS.map((name) => join(folder, name));
  const programs = [executable, realPathOrSame(executable)].map(dirname);
  return [...new Set([...SYSTEM_FOLDERS, ...programs, ...heddle, ...packages].map(realPathOrSame))];
}

/** Returns the folders of the packages that a package depends on, directly or not. */
function packagesOf(manifest: string): Set<string> {
  const places = new Set<string>();
  const manifests = new Set([manifest]);
  // The loop also visits the packages that it adds.
  for (const one of manifests) {
    for (const name of dependenciesOf(one)) {
      const folder = findPackage(dirname(one), name);
      if (folder === null) continue;
      places.add(scopeOf(folder, name));
      manifests.add(join(realPathOrSame(folder), 'package.json'));
    }
  }
  return places;
}

function dependenciesOf(manifest: string): string[] {
  const { dependencies, optionalDependencies } = readManifest(manifest);
  return [dependencies, optionalDependencies].flatMap((names) =>
    isObject(names) ? Object.keys(names) : [],
  );
}

function readManifest(path: string): Record<string, unknown> {
  try {
    const content: unknown = JSON.parse(textOf(path, MANIFEST_BYTES_MAX) ?? 'null');
    return isObject(content) ? content : {};
  } catch (error) {
    // All packages must be known, or none of them would be protected.
    if (isOwnFailure(error)) throw error;
    // An optional package need not be installed. A damaged one does not run.
    return {};
  }
}

/** Finds a package as Node does: in the nearest `node_modules` that has it. */
function findPackage(from: string, name: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name);
    if (basename(folder) !== 'node_modules' && existsSync(path)) return path;
    if (dirname(folder) === folder) return null;
  }
}

/**
 * A package with a scope is protected with its scope: otherwise a command could add packages that
 * Node finds first.
 */
function scopeOf(folder: string, name: string): string {
  return name.startsWith('@') ? dirname(folder) : folder;
}
