const { createHash } = require('node:crypto');
const { mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { basename, dirname, extname, join } = require('node:path');
const esbuild = require('esbuild');
const { version } = require('../package.json');
const { runSession } = require('./run-session.js');

const root = join(__dirname, '..');
const dist = join(root, 'dist');

/** Builds the executable's bundle and the library. Rejects if the sources do not build. */
async function build() {
  copyGrammar();
  await Promise.all([buildExecutable(), buildLibrary()]);
}

/** The files of the package tree-sitter-bash that are copied to dist, and the names of the copies. */
const GRAMMAR = { 'tree-sitter-bash.wasm': 'tree-sitter-bash.wasm', LICENSE: 'tree-sitter-bash.LICENSE' };

/**
 * The validators of requests and of a provider's items, which become separate scripts: together they are more than a quarter of
 * the code. The first response only needs the handshake's validator, which is in the bundle.
 */
const VALIDATORS = ['validate-params', 'validate-provided-item'];

/** The scripts that are loaded when they are needed, and their sources. The editor of config.toml has its own parser. */
const APART = {
  ...Object.fromEntries(VALIDATORS.map((name) => [name, `src/protocol/generated/${name}.js`])),
  'edit-toml': 'src/config/writing/edit-toml.ts',
  'create-mcp-host': 'src/mcp/host/create-mcp-host.ts',
};

/**
 * Bundles src/main.ts and its imports into dist/heddle.cjs, except for those in APART, which are separate scripts. Leaves out
 * packages that are native or have other files, and yaml, which few users need. Modules that are imported with `import()` run
 * at their first use.
 */
async function buildExecutable() {
  const { outputFiles } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: {
      heddle: 'src/main.ts',
      'proxy-worker': 'src/tools/command/network/thread/proxy-worker.ts',
      'store-worker': 'src/store/sqlite/worker/store-worker.ts',
      'search-worker': 'src/search/worker/search-worker.ts',
      ...APART,
      'mcp-worker': 'src/mcp/host/mcp-worker.ts',
    },
    outdir: 'dist',
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'cjs',
    // Here and not when it is loaded, which would copy the whole text.
    banner: { js: '(function (exports, require, module, __filename, __dirname) {' },
    footer: { js: '})' },
    // yaml is only loaded for skills and model scripts.
    external: ['better-sqlite3', 'yaml', '@lydell/node-pty', 'web-tree-sitter'],
    // esbuild turns `import()` into `require` at the first use: code that node:vm runs cannot use `import()`.
    supported: { 'dynamic-import': false },
    minifyWhitespace: true,
    minifySyntax: true,
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    // Code that finds files of packages needs the path of its own file. CommonJS calls it __filename.
    define: { HEDDLE_VERSION: JSON.stringify(version), 'import.meta.url': '__filename' },
    plugins: [lateModules, scriptsApart],
    logLevel: 'warning',
    write: false,
  });
  mkdirSync(dist, { recursive: true });
  for (const { path, text } of outputFiles) replaceFile(path, path.endsWith('.cjs') ? signed(text) : text);
  await makeCodeCache();
}

/** Copies the grammar of bash and its licence, whose notice has to be kept. */
function copyGrammar() {
  const folder = dirname(require.resolve('tree-sitter-bash/package.json'));
  mkdirSync(dist, { recursive: true });
  for (const [name, copy] of Object.entries(GRAMMAR)) replaceFile(join(dist, copy), readFileSync(join(folder, name)));
}

/**
 * Makes dist/lib, the package's exports, as ES modules without the packages that they import. Code that both entries need is in
 * shared files. Builds in another folder, which then replaces the old one.
 */
async function buildLibrary() {
  const folder = join(dist, 'lib');
  const fresh = `${folder}.${process.pid}`;
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: { index: 'src/index.ts', client: 'src/client/index.ts' },
    outdir: fresh,
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    packages: 'external',
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    define: { IS_BUILT: 'true' },
    logLevel: 'warning',
  });
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
}

/** Modules of Node, whose functions the response to `initialize` does not need. Together they take a tenth of the time until then. */
const LATE_MODULES = ['crypto', 'fs/promises', 'timers/promises', 'v8'];

/** Loads these modules of Node when one of their functions is first called. */
const lateModules = {
  name: 'late-modules',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^(node:)?(${LATE_MODULES.join('|')})$`) }, ({ namespace, path }) =>
      namespace === 'late' ? { path, external: true } : { path: path.replace('node:', ''), namespace: 'late' },
    );
    onLoad({ filter: /.*/, namespace: 'late' }, ({ path }) => ({ contents: lateFunctions(path).join('\n') }));
  },
};

function lateFunctions(path) {
  const names = Object.entries(require(path)).flatMap(([name, value]) => (typeof value === 'function' ? [name] : []));
  // Without classes, which cannot be called.
  return names
    .filter((name) => /^[a-z]/.test(name))
    .map((name) => `export const ${name} = (...args) => require('node:${path}').${name}(...args);`);
}

/** Makes the bundle load these scripts at run time, with the `require` of bin/load-main.js. */
const scriptsApart = {
  name: 'scripts-apart',
  setup({ onResolve }) {
    onResolve({ filter: new RegExp(`/(${Object.keys(APART).join('|')})\\.[jt]s$`) }, ({ kind, path }) =>
      kind === 'entry-point' ? null : { path: `./${basename(path, extname(path))}.cjs`, external: true },
    );
  },
};

/** Appends the hash by which bin/load-main.js finds the compiled code of exactly this source. */
function signed(text) {
  return `${text}// build ${createHash('sha256').update(text).digest('hex').slice(0, 16)}\n`;
}

/**
 * Runs the server for a session with one turn, so that V8 caches the code that it compiles for it: the first turn of a server takes
 * two thirds of the time that way, and loading the cache less than a millisecond more. Code for other requests is not cached.
 */
async function makeCodeCache() {
  for (const name of readdirSync(dist)) if (name.endsWith('.cache')) rmSync(join(dist, name));
  const home = mkdtempSync(join(tmpdir(), 'heddle-build-'));
  try {
    await runSession(join(__dirname, 'make-code-cache.js'), home);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Replaces a file atomically: processes that run the old file keep reading the old contents. */
function replaceFile(path, contents) {
  const temporary = join(path, '..', `.${basename(path)}.${process.pid}`);
  writeFileSync(temporary, contents);
  renameSync(temporary, path);
}

module.exports = { build, replaceFile };
