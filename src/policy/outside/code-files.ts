const NODE = ['package.json', '.npmrc', '.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs', 'bunfig.toml'];
const MAKE = ['GNUmakefile', 'makefile', 'Makefile'];
const CARGO = ['Cargo.toml', 'build.rs', '.cargo/config.toml', '.cargo/config', 'rust-toolchain.toml', 'rust-toolchain'];
const PYTHON = ['pyproject.toml', 'setup.py', 'setup.cfg', 'conftest.py', 'pytest.ini', 'tox.ini', 'noxfile.py'];
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
const SCRIPTED = ['package.json', 'tsconfig.json', 'index.js', 'index.cjs', 'index.mjs', 'index.ts'];
/** Hooks may be in any folder that `core.hooksPath` names. */
const GIT_HOOKS = (
  'applypatch-msg commit-msg fsmonitor-watchman post-applypatch post-checkout post-commit post-index-change post-merge post-rewrite ' +
  'pre-applypatch pre-auto-gc pre-commit pre-merge-commit pre-push pre-rebase prepare-commit-msg push-to-checkout reference-transaction ' +
  'sendemail-validate'
).split(' ');
const GRADLE = ['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts', 'gradle.properties', 'gradlew'];

const PROGRAMS: readonly (readonly [programs: string, files: readonly string[]])[] = [
  ['make gmake', MAKE],
  ['npm npx pnpm pnpx yarn bun bunx', NODE],
  ['bash sh dash ash zsh ksh mksh csh tcsh', SHELL],
  ['node tsx ts-node', SCRIPTED],
  ['python python2 python3 pypy pypy3', ['__main__.py', '__init__.py']],
  ['git', ['.gitconfig', 'git/config', '.config/git/config', ...GIT_HOOKS]],
  ['tsc', ['tsconfig.json']],
  ['deno', ['deno.json', 'deno.jsonc']],
  ['cargo', CARGO],
  ['just', ['justfile', 'Justfile', '.justfile']],
  ['task', ['Taskfile.yml', 'Taskfile.yaml']],
  ['go', ['go.mod', 'go.work']],
  ['pytest tox nox pip uv poetry hatch', PYTHON],
  ['rake', ['Rakefile', 'rakefile', 'Rakefile.rb']],
  ['bundle', ['Gemfile', '.bundle/config']],
  ['mvn mvnw', ['pom.xml', '.mvn/maven.config', '.mvn/jvm.config', '.mvn/extensions.xml']],
  ['gradle gradlew', GRADLE],
  ['ant', ['build.xml']],
  ['cmake ctest', ['CMakeLists.txt', 'CMakePresets.json', 'CTestTestfile.cmake']],
  ['ninja', ['build.ninja']],
  ['meson', ['meson.build']],
  ['bazel', ['MODULE.bazel', 'WORKSPACE', '.bazelrc']],
  ['docker podman', ['Dockerfile', 'Containerfile', ...COMPOSE]],
  ['docker-compose podman-compose', COMPOSE],
  ['vagrant', ['Vagrantfile']],
  ['nix nix-build nix-shell', ['flake.nix', 'default.nix', 'shell.nix']],
  ['composer', ['composer.json']],
  ['mix', ['mix.exs']],
  ['swift', ['Package.swift']],
  ['zig', ['build.zig']],
  ['dotnet', ['Directory.Build.props', 'global.json']],
  ['direnv', ['.envrc']],
  ['pre-commit', ['.pre-commit-config.yaml']],
];

/** The folders, below one that they work in or above it, from which programs start others by their names. */
export const PROGRAM_FOLDERS: ReadonlyMap<string, string> = new Map(
  [
    ['npm npx pnpm pnpx yarn bun bunx', 'node_modules/.bin'] as const,
    ['uv uvx poetry pdm hatch', '.venv/bin'] as const,
    ['composer', 'vendor/bin'] as const,
  ].flatMap(([programs, folder]) => programs.split(' ').map((program) => [program, folder] as const)),
);

/** Programs whose words are names of tasks and packages, if they are no paths. */
export const TASK_RUNNERS: ReadonlySet<string> = new Set(
  (
    'make gmake npm npx pnpm pnpx yarn bun bunx cargo just task go rake bundle mvn mvnw gradle gradlew ant ninja meson bazel docker podman ' +
    'docker-compose podman-compose composer mix swift zig dotnet pip uv poetry tox nox pre-commit kubectl terraform git apt apt-get brew'
  ).split(' '),
);

/** For each program, the files that it reads as code from its working directory, or from the nearest folder above that has one. */
export const CODE_FILES: ReadonlyMap<string, readonly string[]> = new Map(
  PROGRAMS.flatMap(([programs, files]) => programs.split(' ').map((program) => [program, files] as const)),
);
