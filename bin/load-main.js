const { existsSync, readFileSync } = require('node:fs');
const { createRequire, Module } = require('node:module');
const { join } = require('node:path');
const { Script } = require('node:vm');

const dist = join(__dirname, '..', 'dist');

/** What has been loaded, by name: the script, the file of its compiled code, and its exports. */
const loaded = new Map();

/** Runs the bundle. */
function loadMain() {
  if (!existsSync(join(dist, 'heddle.cjs'))) {
    process.stderr.write(`heddle: ${join(dist, 'heddle.cjs')} is missing; 'npm run build' makes it\n`);
    process.exit(1);
  }
  load('heddle.cjs');
}

/**
 * Runs a script of ours and gives its exports, with what V8 compiled of it when it was built: compiling it anew takes
 * longer than all the rest of the start.
 */
function load(name) {
  const known = loaded.get(name);
  if (known !== undefined) return known.module.exports;
  const file = join(dist, name);
  // Our scripts are ASCII, which is read fastest as Latin-1.
  const source = readFileSync(file, 'latin1');
  const codeCache = codeCacheOf(file, source);
  const cachedData = existsSync(codeCache) ? readFileSync(codeCache) : undefined;
  const script = new Script(Module.wrap(source), { filename: file, cachedData });
  const module = { exports: {} };
  loaded.set(name, { script, codeCache, module });
  const requireOthers = createRequire(file);
  const require = (id) => (id.startsWith('./') ? load(id.slice(2)) : requireOthers(id));
  script.runInThisContext()(module.exports, require, module, file, dist);
  return module.exports;
}

/** V8 checks a source by its length alone, and refuses the code of other versions: so both are in the name. */
function codeCacheOf(file, source) {
  const [, build = ''] = /\/\/ build (\w+)\n$/.exec(source.slice(-64)) ?? [];
  return `${file}.${build}-${process.arch}-${process.versions.v8}.cache`;
}

module.exports = { loaded, loadMain };
