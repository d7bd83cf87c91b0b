const NODE = ['package.json', '.npmrc', '.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs', 'bunfig.toml'];
const MAKE = ['GNUmakefile', 'makefile', 'Makefile'];
const CARGO = ['Cargo.toml', 'build.rs', '.cargo/config.toml', '.cargo/config', 'rust-toolchain.toml', 'rust-toolchain'];
const PYTHON = ['pyproject.toml', 'setup.py', 'setup.cfg', 'conftest.py', 'pytest.ini', 'tox.ini', 'noxfile.py'];
const COMPOSE = ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml'];
const GRADLE = ['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts', 'gradle.properties', 'gradlew'];

const PROGRAMS: readonly (readonly [programs: string, files: readonly string[]])[] = [
  ['make gmake', MAKE],
  ['npm npx pnpm pnpx yarn bun bunx', NODE],
  ['node tsx ts-node', ['package.json', 'tsconfig.json']],
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

/** For each program, the files that it reads as code from its working directory, or from the nearest folder above that has one. */
export const CODE_FILES: ReadonlyMap<string, readonly string[]> = new Map(
  PROGRAMS.flatMap(([programs, files]) => programs.split(' ').map((program) => [program, files] as const)),
);
