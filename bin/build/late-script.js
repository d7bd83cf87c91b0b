const { readFileSync } = require('node:fs');
const { join, posix, relative, sep } = require('node:path');
const { NOT_BUNDLED } = require('./with-importer.js');

const root = join(__dirname, '..', '..');

/** The modules whose `import()` leads to the late script. */
const BEGINNINGS = ['src/main.ts', 'src/app.ts'];
/** An `import()` of a module that is bundled. */
const IMPORT = new RegExp(
  `(?<!typeof )\\bimport\\('(?!node:|${NOT_BUNDLED.join('|')})([^']+)'\\)`,
  'g',
);

/**
 * Splits the server as `buildExecutable` in ../build.js says. By itself, esbuild would make a
 * script for each `import()`.
 */
const lateScript = {
  name: 'late-script',
  setup({ onResolve, onLoad, resolve }) {
    onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
      const from = relative(root, path).replaceAll(sep, '/');
      const load = BEGINNINGS.includes(from)
        ? (target) =>
            `import('late').then(({ modules }) => modules['${resolveFrom(from, target)}']())`
        : (target) => `Promise.resolve().then(() => require('${target}'))`;
      return {
        loader: 'ts',
        contents: readFileSync(path, 'utf8').replace(IMPORT, (_, target) => load(target)),
      };
    });
    // Packages can have another copy of their code for `require`.
    onResolve({ filter: /^[^.]/, namespace: 'file' }, ({ kind, path, importer, resolveDir }) =>
      kind === 'require-call' && importer.endsWith('.ts')
        ? resolve(path, { kind: 'dynamic-import', importer, resolveDir })
        : null,
    );
    onResolve({ filter: /^late$/ }, () => ({ path: 'late', namespace: 'late-script' }));
    onLoad({ filter: /.*/, namespace: 'late-script' }, () => {
      const rows = BEGINNINGS.flatMap(lateTargets).map(
        (target) => `'${target}': () => require('./${target}')`,
      );
      return { contents: `export const modules = {${rows.join()}};`, resolveDir: root };
    });
  },
};

/** The modules that a module imports with `import()`, by their paths from the root. */
function lateTargets(from) {
  return [...readFileSync(join(root, from), 'utf8').matchAll(IMPORT)].map(([, target]) =>
    resolveFrom(from, target),
  );
}

function resolveFrom(from, target) {
  return posix.join(posix.dirname(from), target);
}

module.exports = { lateScript };
