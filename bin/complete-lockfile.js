// Run it after changing a dependency (`npm run lockfile`). A package with binaries depends on one
// package per platform, and npm installs only one of these. npm leaves a package that the registry
// does not have out of the lockfile, and `npm ci` then refuses the whole lockfile. This script adds
// such packages. It reads the platform from the name.
const { readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const file = join(__dirname, '..', 'package-lock.json');
const SYSTEMS = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
];
const PROCESSORS = [
  'arm',
  'arm64',
  'ia32',
  'loong64',
  'mips64el',
  'ppc64',
  'riscv64',
  's390x',
  'x64',
];

const lock = JSON.parse(readFileSync(file, 'utf8'));
const added = Object.entries(lock.packages).flatMap(([path, { dev, optionalDependencies = {} }]) =>
  Object.entries(optionalDependencies)
    .filter(
      ([name]) =>
        !(`node_modules/${name}` in lock.packages) &&
        !(`${path}/node_modules/${name}` in lock.packages),
    )
    .map(([name, version]) => [`node_modules/${name}`, entry({ name, version, dev })]),
);
const sorted = [...Object.entries(lock.packages), ...added].sort(([a], [b]) => (a < b ? -1 : 1));
writeFileSync(
  file,
  `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`,
);
for (const [path, { version }] of added) process.stdout.write(`added ${path} ${version}\n`);

function entry({ name, version, dev }) {
  const words = name.split('/').at(-1).split('-');
  const os = words.find((word) => SYSTEMS.includes(word));
  const cpu = words.find((word) => PROCESSORS.includes(word));
  if (!os || !/^\d/.test(version))
    throw new Error(
      `${name}@${version} does not name a platform: add it to package-lock.json by hand`,
    );
  return {
    version,
    ...(cpu && { cpu: [cpu] }),
    ...(dev && { dev }),
    ...libc(words),
    optional: true,
    os: [os],
  };
}

function libc(words) {
  if (words.some((word) => word.startsWith('musl'))) return { libc: ['musl'] };
  return words.includes('linux') && words.some((word) => word.startsWith('gnu'))
    ? { libc: ['glibc'] }
    : {};
}
