// Makes dist/types, the type declarations of the package's exports. `npm pack` runs it. The setup
// does not, because it takes seconds and only users of the package need the declarations.
const { spawnSync } = require('node:child_process');
const { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const { dirname, join, relative, resolve } = require('node:path');

const root = join(__dirname, '..');
const folder = join(root, 'dist', 'types');
const all = `${folder}.${process.pid}.all`;
const fresh = `${folder}.${process.pid}`;
const RELATIVE = /\bfrom '(\.[^']+)\.ts'/g;
const ENTRIES = ['index.d.ts', 'client/index.d.ts'];
/**
 * Loads Node's types even in projects whose settings do not: the declarations refer to streams and
 * others.
 */
const NODE_TYPES = '/// <reference types="node" />\n';

function main() {
  const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
  const { status } = spawnSync(
    process.execPath,
    [tsc, '-p', join(root, 'tsconfig.types.json'), '--outDir', all],
    { stdio: 'inherit' },
  );
  if (status !== 0) process.exit(1);
  const taken = new Set();
  for (const entry of ENTRIES) {
    take(join(all, entry), taken);
    const file = join(fresh, entry);
    writeFileSync(file, NODE_TYPES + readFileSync(file, 'utf8'));
  }
  rmSync(all, { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
}

/**
 * Copies a declaration file and the files that it imports: the compiler writes declarations of the
 * whole server, and users only need those that the entries import. Replaces `.ts` in imports, which
 * not every compiler resolves.
 */
function take(file, taken) {
  if (taken.has(file)) return;
  taken.add(file);
  const text = readFileSync(file, 'utf8');
  for (const [, specifier] of text.matchAll(RELATIVE))
    take(resolve(dirname(file), `${specifier}.d.ts`), taken);
  const target = join(fresh, relative(all, file));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text.replaceAll(RELATIVE, "from '$1.js'"));
}

main();
