// Runs the quick tests that can depend on what lies around their workspace once more, in a world
// that is full of litter, as an ordinary user and in random order.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = dirname(dirname(dirname(import.meta.dirname)));
/** The user and group `nobody`. */
const ORDINARY = 65_534;
const FOLDERS = [
  'config',
  'files',
  'git',
  'handlers',
  'hooks',
  'instructions',
  'policy',
  'sandbox',
  'search',
  'tools',
];
/**
 * A name in each test file that makes a folder, knows where one lies, or runs commands. The other
 * files start servers in a folder that they never look at, or need no folder.
 */
const NAMES_WORKSPACE =
  /\b(?:cwd|exec_command|files|folder|mkdtempSync|place|repository|tempFolder|work|workspace|world)\b/i;
/** A test that an ordinary user alone can run. */
const FILES = ['test/process/left-guards.test.ts'];
const PROJECTS = ['heddle', 'mocking', 'process'];
const SEEDS = 1_000_000;
const NOT_COPIED = ['node_modules', '.git', '.cache'].map((name) => join(root, name));

/**
 * What lies at `.git` in the folders above the workspaces: an empty folder, the guard of a dead
 * server, a link to an empty folder.
 */
const GIT = [
  (path) => mkdirSync(path),
  (path) => mkdirSync(join(path, 'held-for-sandbox-1-1-00000000'), { recursive: true }),
  (path) => symlinkSync('empty', path),
];

/**
 * Makes folders inside each other, each with litter. Returns the innermost, in which the tests make
 * their world. Its path is short, since those of sockets must be.
 */
function litter(base) {
  let folder = base;
  for (const makeGit of GIT) {
    for (const name of ['HEAD', '.codex', '.hg', 'empty', 'in']) mkdirSync(join(folder, name));
    makeGit(join(folder, '.git'));
    writeFileSync(join(folder, 'package.json'), '{ "name": "litter", "type": "commonjs" }\n');
    symlinkSync('/nonexistent', join(folder, 'link'));
    folder = join(folder, 'in');
  }
  return folder;
}

/** The test files that can depend on litter. */
function dependingFiles() {
  const inFolder = (folder) =>
    readdirSync(join(root, 'test', folder), { recursive: true }).map((name) =>
      join('test', folder, name),
    );
  const files = FOLDERS.flatMap(inFolder).filter((file) => file.endsWith('.test.ts'));
  return [
    ...files.filter((file) => NAMES_WORKSPACE.test(readFileSync(join(root, file), 'utf8'))),
    ...FILES,
  ];
}

/**
 * Copies the project, since an ordinary user cannot write in the checkout of another one. Its
 * packages are linked.
 */
function copyProject(to) {
  cpSync(root, to, { recursive: true, filter: (path) => !NOT_COPIED.includes(path) });
  symlinkSync(join(root, 'node_modules'), join(to, 'node_modules'));
}

/**
 * The user to run as. Null: this one, since only root can become another, or since another one
 * cannot read the packages.
 */
function otherUser() {
  const user = { uid: ORDINARY, gid: ORDINARY };
  const canRead = () =>
    spawnSync(process.execPath, ['-e', ''], { ...user, cwd: join(root, 'node_modules') }).status ===
    0;
  return process.getuid?.() === 0 && canRead() ? user : null;
}

function giveTo({ uid, gid }, folder) {
  for (const name of readdirSync(folder, { recursive: true }))
    lchownSync(join(folder, name), uid, gid);
  lchownSync(folder, uid, gid);
}

function runTests(base) {
  const user = otherUser();
  const temp = litter(base);
  const [project, home] = ['project', 'home'].map((name) => join(temp, name));
  mkdirSync(home);
  copyProject(project);
  if (user !== null) giveTo(user, base);
  const seed = process.env.HEDDLE_TESTS_SEED ?? Math.floor(Math.random() * SEEDS);
  const who =
    user === null
      ? `as this user${process.getuid?.() === 0 ? ', root, since nobody cannot read the packages' : ''}`
      : 'as nobody';
  process.stdout.write(`a littered world, ${who}; HEDDLE_TESTS_SEED=${seed} repeats the order\n`);
  const order = ['--sequence.shuffle.files', '--sequence.shuffle.tests', `--sequence.seed=${seed}`];
  const options = [
    'run',
    '--mode',
    'quick',
    '--configLoader',
    'runner',
    ...PROJECTS.flatMap((name) => ['--project', name]),
    ...order,
  ];
  const [first, ...others] = process.argv.slice(2);
  // Files or folders that the caller names, else all.
  const files = first === undefined || first.startsWith('-') ? dependingFiles() : [];
  const rest = first === undefined ? [] : [first, ...others];
  const { status } = spawnSync(
    process.execPath,
    [join(root, 'node_modules', 'vitest', 'vitest.mjs'), ...options, ...files, ...rest],
    {
      ...user,
      cwd: project,
      env: { ...process.env, TMPDIR: temp, HOME: home, XDG_STATE_HOME: join(temp, 'state') },
      stdio: 'inherit',
    },
  );
  return status ?? 1;
}

// A signal that ends the tests must not end this process before it has removed the folder.
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.on(signal, () => {});
const base = mkdtempSync(join(tmpdir(), 'heddle-'));
// Sandboxes of root mount what lies in it, and may not look into closed folders of other users.
chmodSync(base, 0o755);
try {
  process.exitCode = runTests(base);
} finally {
  rmSync(base, { recursive: true, force: true });
}
