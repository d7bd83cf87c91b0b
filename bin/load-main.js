const { existsSync, readFileSync } = require('node:fs');
const { createRequire, Module } = require('node:module');
const { join } = require('node:path');
const { Script } = require('node:vm');

const main = join(__dirname, '..', 'dist', 'heddle.cjs');

/**
 * Runs the bundle, with what V8 compiled of it when it was built: compiling it anew takes longer than all the rest of
 * the start. Gives the script, and the file of its compiled code.
 */
function loadMain() {
  if (!existsSync(main)) {
    process.stderr.write(`heddle: ${main} is missing; 'npm run build' makes it\n`);
    process.exit(1);
  }
  // The bundle is ASCII, which is read fastest as Latin-1.
  const source = readFileSync(main, 'latin1');
  const codeCache = codeCacheOf(source);
  const cachedData = existsSync(codeCache) ? readFileSync(codeCache) : undefined;
  const script = new Script(Module.wrap(source), { filename: main, cachedData });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(main), module, main, join(main, '..'));
  return { script, codeCache };
}

/** V8 checks a source by its length alone, and refuses the code of other versions: so both are in the name. */
function codeCacheOf(source) {
  const [, build = ''] = /\/\/ build (\w+)\n$/.exec(source.slice(-64)) ?? [];
  return `${main}.${build}-${process.arch}-${process.versions.v8}.cache`;
}

module.exports = { loadMain };
