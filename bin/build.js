const { spawnSync } = require('node:child_process');
const { createHash } = require('node:crypto');
const { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { basename, join } = require('node:path');
const esbuild = require('esbuild');
const { version } = require('../package.json');

const root = join(__dirname, '..');
const dist = join(root, 'dist');

/** Builds the executable's bundle and the library. Throws when the sources do not build. */
async function build() {
  await Promise.all([buildExecutable(), buildLibrary()]);
}

/**
 * The validators of requests and of a provider's items, each a script of its own. The first answer needs the handshake's
 * alone, which is in the bundle; all are more than a quarter of the code.
 */
const VALIDATORS = ['validate-params', 'validate-provided-item'];

/**
 * Bundles src/main.ts and what it imports into dist/heddle.cjs, but for the validators, which are scripts of their own.
 * Packages stay outside that are native or bring files of their own, and yaml, which few need. What is imported with
 * `import()` runs at its first use.
 */
async function buildExecutable() {
  const { outputFiles } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: {
      heddle: 'src/main.ts',
      ...Object.fromEntries(VALIDATORS.map((name) => [name, `src/protocol/generated/${name}.js`])),
    },
    outdir: 'dist',
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'cjs',
    // yaml is loaded for skills and model scripts alone.
    external: ['better-sqlite3', 'yaml', '@lydell/node-pty', 'web-tree-sitter', 'tree-sitter-bash'],
    // Imported lazily all the same: as `require` at the first use, which code loaded through node:vm can do.
    supported: { 'dynamic-import': false },
    minifyWhitespace: true,
    minifySyntax: true,
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    // What finds files of packages asks relative to its own file, which CommonJS names so.
    define: { HEDDLE_VERSION: JSON.stringify(version), 'import.meta.url': '__filename' },
    plugins: [lateCrypto, validatorsApart],
    logLevel: 'warning',
    write: false,
  });
  mkdirSync(dist, { recursive: true });
  for (const { path, text } of outputFiles) replaceFile(path, path.endsWith('.cjs') ? signed(text) : text);
  makeCodeCache();
}

/**
 * Makes dist/lib of what package.json exports: ES modules, the packages outside, what both entries need in files of its
 * own. It is made whole in another folder, which then takes the place of the old one.
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
    logLevel: 'warning',
  });
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
}

/**
 * Loads Node's crypto module at its first use. Its many parts took a tenth of the time to the answer to `initialize`,
 * which needs none of them.
 */
const lateCrypto = {
  name: 'late-crypto',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?crypto$/ }, ({ namespace }) =>
      namespace === 'late-crypto' ? { path: 'node:crypto', external: true } : { path: 'crypto', namespace: 'late-crypto' },
    );
    onLoad({ filter: /.*/, namespace: 'late-crypto' }, () => ({
      contents: ['createHash', 'randomBytes', 'randomUUID']
        .map((name) => `exports.${name} = (...args) => require('node:crypto').${name}(...args);`)
        .join('\n'),
    }));
  },
};

/** Lets the bundle load the validators as bin/load-main.js gives them to it. */
const validatorsApart = {
  name: 'validators-apart',
  setup({ onResolve }) {
    onResolve({ filter: new RegExp(`/(${VALIDATORS.join('|')})\\.js$`) }, ({ kind, path }) =>
      kind === 'entry-point' ? null : { path: `./${basename(path, '.js')}.cjs`, external: true },
    );
  },
};

/** With the mark that bin/load-main.js knows the compiled code of this very text by. */
function signed(text) {
  return `${text}// build ${createHash('sha256').update(text).digest('hex').slice(0, 16)}\n`;
}

/**
 * Lets the server answer `initialize`, so that V8 keeps what it compiles for that, and refuse one more request, for which
 * it loads the validators. What else later requests need stays out: a larger cache takes longer to load than it saves.
 */
function makeCodeCache() {
  for (const name of readdirSync(dist)) if (name.endsWith('.cache')) rmSync(join(dist, name));
  const home = mkdtempSync(join(tmpdir(), 'heddle-build-'));
  const requests = [
    { id: 1, method: 'initialize', params: { clientInfo: { name: 'build', version } } },
    { id: 2, method: 'thread/start', params: { cwd: 0 } },
  ];
  try {
    spawnSync(process.execPath, [join(__dirname, 'make-code-cache.js')], {
      cwd: home,
      env: { PATH: process.env.PATH, HEDDLE_HOME: home },
      input: requests.map((request) => `${JSON.stringify(request)}\n`).join(''),
      stdio: ['pipe', 'ignore', 'inherit'],
    });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Whoever runs the old file goes on with it whole. */
function replaceFile(path, contents) {
  const temporary = join(path, '..', `.${basename(path)}.${process.pid}`);
  writeFileSync(temporary, contents);
  renameSync(temporary, path);
}

module.exports = { build, replaceFile };
