/**
 * Modules of Node, whose functions the response to `initialize` does not need. Together they take a
 * tenth of the time until then.
 */
const LATE_MODULES = ['crypto', 'fs/promises', 'timers/promises', 'v8'];

/** Loads these modules of Node when one of their functions is first called. */
const lateModules = {
  name: 'late-modules',
  setup({ onResolve, onLoad }) {
    onResolve(
      { filter: new RegExp(`^(node:)?(${LATE_MODULES.join('|')})$`) },
      ({ namespace, path }) =>
        namespace === 'late'
          ? { path, external: true }
          : { path: path.replace('node:', ''), namespace: 'late' },
    );
    onLoad({ filter: /.*/, namespace: 'late' }, ({ path }) => ({
      contents: lateFunctions(path).join('\n'),
    }));
  },
};

function lateFunctions(path) {
  const names = Object.entries(require(path)).flatMap(([name, value]) =>
    typeof value === 'function' ? [name] : [],
  );
  // Without classes, which cannot be called.
  return names
    .filter((name) => /^[a-z]/.test(name))
    .map((name) => `export const ${name} = (...args) => require('node:${path}').${name}(...args);`);
}

module.exports = { lateModules };
