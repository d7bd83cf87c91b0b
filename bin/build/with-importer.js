const { builtinModules } = require('node:module');

/**
 * Packages that are not bundled: they are native or have other files, but for yaml, which few users
 * need.
 */
const NOT_BUNDLED = [
  '@silvia-odwyer/photon-node',
  'better-sqlite3',
  'yaml',
  '@lydell/node-pty',
  'web-tree-sitter',
];

/** Modules of Node that every start needs. */
const EARLY_MODULES = ['fs', 'path', 'os', 'util', 'buffer', 'process'];

/**
 * Loads other modules of Node, and packages that are not bundled, with the module that imports
 * them. ES modules would load them first.
 */
const withImporter = {
  name: 'with-importer',
  setup({ onResolve, onLoad }) {
    const names = [
      ...builtinModules.filter((name) => !EARLY_MODULES.includes(name)),
      'sqlite',
      ...NOT_BUNDLED,
    ];
    onResolve({ filter: new RegExp(`^(node:)?(${names.join('|')})$`) }, ({ kind, path }) =>
      kind === 'import-statement' ? { path, namespace: 'with-importer' } : { path, external: true },
    );
    onLoad({ filter: /.*/, namespace: 'with-importer' }, ({ path }) => ({
      contents: `module.exports = require('${path}');`,
    }));
  },
};

module.exports = { NOT_BUNDLED, withImporter };
