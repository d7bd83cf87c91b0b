const { createHash } = require('node:crypto');
const {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} = require('node:fs');
const { tmpdir } = require('node:os');
const { basename, dirname, extname, join } = require('node:path');
const esbuild = require('esbuild');
const { version } = require('../package.json');
const { lateModules } = require('./build/late-modules.js');
const { lateScript } = require('./build/late-script.js');
const { NOT_BUNDLED, withImporter } = require('./build/with-importer.js');
const { runSession } = require('./run-session.js');

const root = join(__dirname, '..');
const dist = join(root, 'dist');

/** Builds the scripts of the executable, and the library. Rejects if the sources do not build. */
async function build() {
  copyGrammar();
  await Promise.all([buildExecutable(), buildLibrary()]);
}

/**
 * The files of the package tree-sitter-bash that are copied to dist, and the names of the copies.
 */
const GRAMMAR = {
  'tree-sitter-bash.wasm': 'tree-sitter-bash.wasm',
  LICENSE: 'tree-sitter-bash.LICENSE',
};

/**
 * The validators of requests, answers and a provider's items, which become separate scripts:
 * together they are more than a quarter of the code. The first response only needs the handshake's
 * validator.
 */
const VALIDATORS = ['validate-params', 'validate-answers', 'validate-provided-item'];

/**
 * The scripts that are loaded when they are needed, and their sources. The editor of config.toml
 * has its own parser. The check of -c has its own copy of what reads settings: late.cjs takes much
 * longer to load, before the handshake.
 */
const APART = {
  ...Object.fromEntries(VALIDATORS.map((name) => [name, `src/protocol/generated/${name}.js`])),
  'edit-toml': 'src/config/writing/edit-toml.ts',
  'scale-picture': 'src/model/pictures/scale-picture.ts',
  'create-mcp-host': 'src/mcp/host/create-mcp-host.ts',
  'overrides-problem': 'src/config/overrides-problem.ts',
  'http-front': 'src/listen/http-front.ts',
  'web-token-problem': 'src/listen/web-token-problem.ts',
};

/** The packages that are scripts of their own: mostly, a server logs nothing. */
const PACKAGES_APART = ['pino'];

/** The scripts of workers, which bin/load-worker.js loads by their names. */
const WORKERS = Object.fromEntries(
  readdirSync(join(root, 'src'), { recursive: true })
    .filter((path) => path.endsWith('.worker.ts'))
    .map((path) => [basename(path, '.ts'), join('src', path)]),
);

/**
 * Every script is a function, which bin/load-main.js calls. Here and not when it is loaded, which
 * would copy the whole text.
 */
const FUNCTION = {
  format: 'cjs',
  target: 'node20.19',
  // esbuild turns `import()` into `require` at the first use: code that node:vm runs cannot use
  // `import()`.
  supported: { 'dynamic-import': false },
  minifyWhitespace: true,
  sourcesContent: false,
  legalComments: 'none',
};
const HEAD = '(function (exports, require, module, __filename, __dirname) {';
const FOOT = '})';

const BUNDLE = {
  absWorkingDir: root,
  outdir: 'dist',
  outExtension: { '.js': '.cjs' },
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  external: NOT_BUNDLED,
  minifyWhitespace: true,
  minifySyntax: true,
  sourcesContent: false,
  legalComments: 'none',
  // Code that finds files of packages needs the path of its own file. CommonJS calls it __filename.
  define: { HEDDLE_VERSION: JSON.stringify(version), 'import.meta.url': '__filename' },
  logLevel: 'warning',
  write: false,
};

/**
 * Builds the scripts of the executable. Those of the server are three: dist/heddle.cjs is
 * src/main.ts and what it imports, late.cjs is what main.ts and app.ts load later, with `import()`,
 * and shared.cjs has the modules that both need. A module that other modules import with `import()`
 * is in the script of these, and runs at its first use.
 */
async function buildExecutable() {
  const [server, others] = await Promise.all([
    esbuild.build({
      ...BUNDLE,
      entryPoints: { heddle: 'src/main.ts', late: 'late' },
      format: 'esm',
      splitting: true,
      chunkNames: 'shared',
      sourcemap: 'inline',
      plugins: [lateModules, withImporter, scriptsApart, lateScript],
    }),
    esbuild.build({
      ...BUNDLE,
      ...FUNCTION,
      entryPoints: {
        ...WORKERS,
        ...APART,
        ...Object.fromEntries(PACKAGES_APART.map((name) => [name, name])),
      },
      banner: { js: HEAD },
      footer: { js: FOOT },
      sourcemap: 'linked',
      plugins: [lateModules, scriptsApart],
    }),
  ]);
  const scripts = await Promise.all(server.outputFiles.map(asFunction));
  mkdirSync(dist, { recursive: true });
  const files = [...scripts.flat(), ...others.outputFiles];
  for (const { path, text } of files)
    replaceFile(path, path.endsWith('.cjs') ? signed(text) : text);
  removeOthers(files.map(({ path }) => basename(path)));
  await makeCodeCache();
}

/** Removes the scripts that an earlier build has made under other names: packages have all. */
function removeOthers(names) {
  for (const name of readdirSync(dist))
    if (/\.cjs(\.map)?$/.test(name) && !names.includes(name)) rmSync(join(dist, name));
}

/** Makes an ES module a function. Returns its script and its source map. */
async function asFunction({ path, text }) {
  const { code, map } = await esbuild.transform(text, {
    ...FUNCTION,
    banner: HEAD,
    footer: FOOT,
    sourcemap: 'external',
    sourcefile: path,
  });
  return [
    { path, text: `${code}//# sourceMappingURL=${basename(path)}.map\n` },
    { path: `${path}.map`, text: map },
  ];
}

/** Copies the grammar of bash and its licence, whose notice has to be kept. */
function copyGrammar() {
  const folder = dirname(require.resolve('tree-sitter-bash/package.json'));
  mkdirSync(dist, { recursive: true });
  for (const [name, copy] of Object.entries(GRAMMAR))
    replaceFile(join(dist, copy), readFileSync(join(folder, name)));
}

/**
 * Makes dist/lib, the package's exports, as ES modules without the packages that they import. Code
 * that both entries need is in shared files. Builds in another folder, which then replaces the old
 * one.
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

/** Makes the scripts load these at run time, with the `require` of bin/load-main.js. */
const scriptsApart = {
  name: 'scripts-apart',
  setup({ onResolve }) {
    onResolve(
      { filter: new RegExp(`/(${Object.keys(APART).join('|')})\\.[jt]s$`) },
      ({ kind, path }) =>
        kind === 'entry-point'
          ? null
          : { path: `./${basename(path, extname(path))}.cjs`, external: true },
    );
    onResolve({ filter: new RegExp(`^(${PACKAGES_APART.join('|')})$`) }, ({ kind, path }) =>
      kind === 'entry-point' ? null : { path: `./${path}.cjs`, external: true },
    );
  },
};

/** Appends the hash by which bin/load-main.js finds the compiled code of exactly this source. */
function signed(text) {
  return `${text}// build ${createHash('sha256').update(text).digest('hex').slice(0, 16)}\n`;
}

/**
 * Runs the server for a session with one turn, so that V8 caches the code that it compiles for it:
 * the first turn of a server takes two thirds of the time that way, and loading the cache less than
 * a millisecond more. Code for other requests is not cached.
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
