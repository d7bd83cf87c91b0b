const NODE = ['package.json', '.npmrc', '.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs', 'bunfig.toml'];
const MAKE = ['GNUmakefile', 'makefile', 'Makefile'];
const CARGO = [
  'Cargo.toml',
  'build.rs',
  '.cargo/config.toml',
  '.cargo/config',
  'rust-toolchain.toml',
  'rust-toolchain',
];
const PYTHON = [
  'pyproject.toml',
  'setup.py',
  'setup.cfg',
  'conftest.py',
  'pytest.ini',
  'tox.ini',
  'noxfile.py',
];
const COMPOSE = ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml'];
const SHELL = [
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.profile',
  '.zshenv',
  '.zprofile',
  '.zshrc',
  '.zlogin',
  '.kshrc',
  '.cshrc',
  '.tcshrc',
  '.login',
];
const SCRIPTED = [
  'package.json',
  'tsconfig.json',
  'index.js',
  'index.cjs',
  'index.mjs',
  'index.ts',
];
/** Hooks may be in any folder that `core.hooksPath` names. */
const GIT_HOOKS = (
  'applypatch-msg commit-msg fsmonitor-watchman post-applypatch post-checkout post-commit post-index-change post-merge post-rewrite ' +
  'pre-applypatch pre-auto-gc pre-commit pre-merge-commit pre-push pre-rebase prepare-commit-msg push-to-checkout reference-transaction ' +
  'sendemail-validate'
).split(' ');
const GRADLE = [
  'build.gradle',
  'build.gradle.kts',
  'settings.gradle',
  'settings.gradle.kts',
  'gradle.properties',
  'gradlew',
];

/** Where a program finds code besides the files whose paths are its words. */
interface CodeSources {
  /**
   * Files that it reads as code from its working directory, or from the nearest folder above that
   * has one.
   */
  files?: readonly string[];
  /**
   * The folder, below one that it works in or above it, from which it starts others by their names.
   */
  folder?: string;
  /** Its words are names of tasks and packages, if they are no paths. */
  takesTasks?: true;
  /** It runs the script that its words name, or fetches the program that runs it. */
  runsScripts?: true;
  /**
   * It runs a package of its working directory or a folder above it, if there is one of the name.
   */
  runsPackages?: true;
}

const NODE_SOURCES = {
  files: NODE,
  folder: 'node_modules/.bin',
  takesTasks: true,
  runsScripts: true,
} as const;
const PYTHON_TOOLS = '.venv/bin';

const PROGRAMS: readonly (readonly [programs: string, sources: CodeSources])[] = [
  ['make gmake', { files: MAKE, takesTasks: true }],
  ['npm pnpm yarn bun', NODE_SOURCES],
  ['npx pnpx bunx', { ...NODE_SOURCES, runsPackages: true }],
  ['bash sh dash ash zsh ksh mksh csh tcsh', { files: SHELL }],
  ['node tsx ts-node', { files: SCRIPTED }],
  ['python python2 python3 pypy pypy3', { files: ['__main__.py', '__init__.py'] }],
  [
    'git',
    { files: ['.gitconfig', 'git/config', '.config/git/config', ...GIT_HOOKS], takesTasks: true },
  ],
  ['tsc', { files: ['tsconfig.json'] }],
  ['deno', { files: ['deno.json', 'deno.jsonc'], runsScripts: true }],
  ['cargo', { files: CARGO, takesTasks: true }],
  ['just', { files: ['justfile', 'Justfile', '.justfile'], takesTasks: true }],
  ['task', { files: ['Taskfile.yml', 'Taskfile.yaml'], takesTasks: true }],
  ['go', { files: ['go.mod', 'go.work'], takesTasks: true }],
  ['pytest', { files: PYTHON }],
  ['tox nox pip', { files: PYTHON, takesTasks: true }],
  ['uv poetry', { files: PYTHON, folder: PYTHON_TOOLS, takesTasks: true, runsScripts: true }],
  ['hatch', { files: PYTHON, folder: PYTHON_TOOLS, runsScripts: true }],
  ['uvx pdm', { folder: PYTHON_TOOLS, runsScripts: true }],
  ['pipenv rye mise', { runsScripts: true }],
  ['rake', { files: ['Rakefile', 'rakefile', 'Rakefile.rb'], takesTasks: true }],
  ['bundle', { files: ['Gemfile', '.bundle/config'], takesTasks: true }],
  [
    'mvn mvnw',
    {
      files: ['pom.xml', '.mvn/maven.config', '.mvn/jvm.config', '.mvn/extensions.xml'],
      takesTasks: true,
    },
  ],
  ['gradle gradlew', { files: GRADLE, takesTasks: true }],
  ['ant', { files: ['build.xml'], takesTasks: true }],
  ['cmake ctest', { files: ['CMakeLists.txt', 'CMakePresets.json', 'CTestTestfile.cmake'] }],
  ['ninja', { files: ['build.ninja'], takesTasks: true }],
  ['meson', { files: ['meson.build'], takesTasks: true }],
  ['bazel', { files: ['MODULE.bazel', 'WORKSPACE', '.bazelrc'], takesTasks: true }],
  ['docker podman', { files: ['Dockerfile', 'Containerfile', ...COMPOSE], takesTasks: true }],
  ['docker-compose podman-compose', { files: COMPOSE, takesTasks: true }],
  ['vagrant', { files: ['Vagrantfile'] }],
  ['nix nix-build nix-shell', { files: ['flake.nix', 'default.nix', 'shell.nix'] }],
  ['composer', { files: ['composer.json'], folder: 'vendor/bin', takesTasks: true }],
  ['mix', { files: ['mix.exs'], takesTasks: true }],
  ['swift', { files: ['Package.swift'], takesTasks: true }],
  ['zig', { files: ['build.zig'], takesTasks: true }],
  ['dotnet', { files: ['Directory.Build.props', 'global.json'], takesTasks: true }],
  ['direnv', { files: ['.envrc'] }],
  ['pre-commit', { files: ['.pre-commit-config.yaml'], takesTasks: true }],
  ['kubectl terraform apt apt-get brew', { takesTasks: true }],
];

/** Where programs find code, by their names. */
export const CODE_SOURCES: ReadonlyMap<string, CodeSources> = new Map(
  PROGRAMS.flatMap(([programs, sources]) =>
    programs.split(' ').map((program) => [program, sources] as const),
  ),
);
