const { closeSync, existsSync, openSync, readFileSync } = require('node:fs');
const { createRequire, isBuiltin } = require('node:module');
const { join } = require('node:path');
const { Script } = require('node:vm');

const dist = join(__dirname, '..', 'dist');

/** The loaded scripts, by name: each with the file of its compiled code, and its exports. */
const loaded = new Map();

/** Runs the executable. */
function loadMain() {
  if (!existsSync(join(dist, 'heddle.cjs'))) {
    process.stderr.write(`heddle: ${join(dist, 'heddle.cjs')} is missing: run 'npm run build'\n`);
    process.exit(1);
  }
  load('heddle.cjs');
}

/**
 * Runs one of the built scripts and returns its exports. Uses the code that V8 compiled at build
 * time: compiling it again takes longer than the rest of the start.
 */
function load(name) {
  const known = loaded.get(name);
  if (known !== undefined) return known.module.exports;
  const file = join(dist, name);
  // The scripts are ASCII, and Latin-1 is the fastest to decode.
  const source = readFileSync(file, 'latin1');
  const codeCache = codeCacheOf(file, source);
  const cachedData = existsSync(codeCache) ? readFileSync(codeCache) : undefined;
  const script = new Script(source, { filename: file, cachedData });
  const module = { exports: {} };
  loaded.set(name, { script, codeCache, module });
  const requireOthers = createRequire(file);
  const require = (id) => {
    if (id.startsWith('./')) return load(id.slice(2));
    if (!isBuiltin(id)) requireDescriptors();
    return requireOthers(id);
  };
  try {
    script.runInThisContext()(module.exports, require, module, file, dist);
  } catch (error) {
    // What it needs may be there the next time.
    loaded.delete(name);
    throw error;
  }
  return module.exports;
}

/** The same as src/base/loading/require-descriptors.ts. */
function requireDescriptors() {
  const files = [];
  try {
    while (files.length < 4) files.push(openSync('/', 'r'));
  } finally {
    for (const file of files) closeSync(file);
  }
}

/**
 * V8 compares only the length of the source, and refuses code of other versions. So the name has
 * the source's hash and V8's version.
 */
function codeCacheOf(file, source) {
  const [, build = ''] = /\/\/ build (\w+)\n$/.exec(source.slice(-64)) ?? [];
  return `${file}.${build}-${process.arch}-${process.versions.v8}.cache`;
}

module.exports = { load, loaded, loadMain };
