// Makes dist/types, the declarations of what package.json exports. It takes seconds and only users of the package need
// them, so the setup leaves it out; `npm pack` runs it.
const { spawnSync } = require('node:child_process');
const { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const { dirname, join, relative, resolve } = require('node:path');

const root = join(__dirname, '..');
const folder = join(root, 'dist', 'types');
const all = `${folder}.${process.pid}.all`;
const fresh = `${folder}.${process.pid}`;
const RELATIVE = /\bfrom '(\.[^']+)\.ts'/g;
const ENTRIES = ['index.d.ts', 'client/index.d.ts'];
/** A project whose settings name no types has Node's all the same: streams and the like are part of what is declared. */
const NODE_TYPES = '/// <reference types="node" />\n';

function main() {
  const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.types.json'), '--outDir', all], { stdio: 'inherit' });
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
 * The compiler writes declarations of the whole server; users need those that the entries lead to. It leaves `.ts` in
 * imports, which not every compiler finds.
 */
function take(file, taken) {
  if (taken.has(file)) return;
  taken.add(file);
  const text = readFileSync(file, 'utf8');
  for (const [, specifier] of text.matchAll(RELATIVE)) take(resolve(dirname(file), `${specifier}.d.ts`), taken);
  const target = join(fresh, relative(all, file));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text.replaceAll(RELATIVE, "from '$1.js'"));
}

main();
