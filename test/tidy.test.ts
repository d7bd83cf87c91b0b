import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { profileFile } from '../src/config/profile-files.ts';
import { HOME_PROTECTED, isOfHome, isSecretCopy } from '../src/policy/permissions/home-readable.ts';
import { helpersTwice } from './shape/helper-shape.ts';
import { wideLines } from './shape/line-shape.ts';
import { namedFiles } from './shape/named-files.ts';
import { readSource } from './shape/read-source.ts';
import { roomOrders } from './shape/room-shape.ts';

const root = dirname(import.meta.dirname);

/** From the top down. A folder imports only from lines below its own, and from itself. */
const LAYERS = [
  ['main.ts'],
  ['cli', 'index.ts'],
  ['listen'],
  ['deterministic'],
  ['app.ts'],
  ['backend.ts'],
  ['services'],
  ['server'],
  ['handlers'],
  ['agent'],
  ['tools', 'search'],
  ['hooks', 'mcp'],
  ['sandbox', 'network', 'instructions', 'rollout'],
  ['files', 'git', 'model', 'store', 'policy', 'transport'],
  ['config', 'client'],
  ['protocol', 'secrets'],
  ['base'],
];
const ORDERS = roomOrders(root);
const SOURCE_LINES_MAX = 300;
const FOLDER_FILES_MAX = 20;
/**
 * The functions of node:fs that every file may use. None of them opens, lists, replaces or removes
 * what is at a path, or throws for its name.
 */
const FS_FOR_ALL =
  'access accessSync chmodSync closeSync constants existsSync fdatasync fdatasyncSync fstatSync fsyncSync ftruncateSync lstat mkdir mkdirSync ' +
  'mkdtempSync readSync rmdir rmdirSync stat watch writeSync';
/**
 * The files that may use others, and why. All other files read and write with `src/base/files/`,
 * which never opens a file of heddle's store: closing it would drop the locks of this process. They
 * look with `src/base/paths/`.
 */
const FS_FOR_SOME: Record<string, { uses: string; because: string }> = {
  'src/base/files/appended-file.ts': {
    uses: 'lstatSync openSync renameSync',
    because: 'creates files; looks at and renames what is in a folder that it keeps open',
  },
  'src/base/files/draft-file.ts': {
    uses: 'openSync rmSync',
    because: "writes heddle's own list, with a name of its own",
  },
  'src/base/files/list-folder.ts': {
    uses: 'opendir opendirSync readdir',
    because: 'opens folders only; small ones are listed faster at once',
  },
  'src/base/files/open-new-file.ts': {
    uses: 'open openSync',
    because: 'creates files; compares an opened one with those of the store',
  },
  'src/base/files/open-pinned.ts': {
    uses: 'lstatSync open openSync statSync',
    because: 'the opener: compares with the files of the store',
  },
  'src/base/files/open-regular-file.ts': {
    uses: 'statSync',
    because: 'a faster answer for nothing than an error',
  },
  'src/base/files/own-file.ts': {
    uses: 'readdirSync statSync',
    because: 'knows the files of the store',
  },
  'src/base/loading/require-descriptors.ts': {
    uses: 'openSync',
    because: 'opens a folder, which it closes at once',
  },
  'src/base/files/read-proc.ts': {
    uses: 'readFile readFileSync readdirSync readlinkSync',
    because: 'reads what the kernel makes',
  },
  'src/base/files/with-lock-file.ts': {
    uses: 'linkSync renameSync rmSync',
    because: 'removes lock files, whose names are ours',
  },
  'src/base/files/read-regular-file.ts': {
    uses: 'readlinkSync',
    because: 'asks where an open file lies',
  },
  'src/deterministic/create-deterministic.ts': {
    uses: 'rmSync',
    because: 'removes a folder that it has created',
  },
  'src/cli/doctor/run-doctor.ts': {
    uses: 'rmSync',
    because: 'removes a folder that it has made, with a random name',
  },
  'src/cli/exec/asking/keyboard.ts': {
    uses: 'openSync',
    because: 'opens the terminal of the process',
  },
  'src/cli/generate/write-files.ts': {
    uses: 'writeFileSync',
    because: 'writes where the user says',
  },
  'src/config/trust/append-line.ts': { uses: 'openSync', because: 'opens folders only' },
  'src/files/copy-path.ts': {
    uses: 'readlink realpath symlink',
    because: 'copies links; a client reads the errors',
  },
  'src/files/file-location.ts': {
    uses: 'readlink realpath',
    because: 'the caller needs the errors',
  },
  'src/files/open-folder.ts': {
    uses: 'open readdir',
    because: 'opens folders only, and needs names as bytes',
  },
  'src/files/path-watch.ts': { uses: 'realpath', because: 'catches all errors' },
  'src/files/remove-path.ts': {
    uses: 'unlink',
    because: 'asks first whether it is a file of the store',
  },
  'src/files/replace-file.ts': {
    uses: 'rename rm',
    because: 'asks first whether it is a file of the store; removes its drafts',
  },
  'src/handlers/external-agent/skills-importer.ts': {
    uses: 'rename',
    because: 'renames a folder that it has made',
  },
  'src/sandbox/linux/make-unnamed-file.ts': {
    uses: 'openSync unlinkSync',
    because: 'creates a file in a new folder',
  },
  'src/sandbox/linux/network-namespaces.ts': {
    uses: 'openSync',
    because: "opens the server's own descriptors",
  },
  'src/sandbox/linux/prepare-namespace.ts': {
    uses: 'openSync',
    because: 'opens namespaces, which cannot be read',
  },
  'src/sandbox/linux/seccomp-files.ts': {
    uses: 'openSync',
    because: "opens the server's own descriptors",
  },
  'src/sandbox/places/guarded-places.ts': { uses: 'openSync', because: 'opens folders only' },
  'src/sandbox/places/guard-list.ts': { uses: 'rmSync', because: 'removes its own list' },
  'src/sandbox/places/open-place.ts': {
    uses: 'openSync',
    because: 'opens handles, which cannot be read',
  },
  'src/sandbox/places/sweep-guards.ts': {
    uses: 'openSync rmSync',
    because: 'opens folders only; removes lists, whose names are ours',
  },
  'src/sandbox/processes/pipes.ts': { uses: 'openSync', because: "opens the server's own pipes" },
  'src/sandbox/processes/spawn-child.ts': { uses: 'openSync', because: 'opens /dev/null' },
  'src/sandbox/processes/terminals.ts': {
    uses: 'openSync',
    because: "opens the server's own terminals",
  },
  'src/store/sqlite/database/copy-database.ts': {
    uses: 'copyFileSync rmSync statSync',
    because: "heddle's own database",
  },
  'src/store/sqlite/database/create-draft.ts': {
    uses: 'openSync',
    because: 'creates a file with a new name',
  },
  'src/store/sqlite/database/file-identity.ts': {
    uses: 'statSync',
    because: "heddle's own database",
  },
  'src/store/sqlite/database/gate.ts': {
    uses: 'openSync rmSync statSync',
    because: "heddle's own lock files",
  },
  'src/store/sqlite/database/leases.ts': {
    uses: 'openSync rmSync',
    because: "heddle's own lock files",
  },
  'src/listen/client-listeners.ts': {
    uses: 'renameSync rmSync',
    because: 'sockets that it has made',
  },
  'src/listen/prepare-socket-folder.ts': {
    uses: 'rmSync statSync',
    because: 'the socket of a server that has ended, and the folders above it',
  },
  'src/store/sqlite/database/migrate.ts': {
    uses: 'readdirSync readFileSync',
    because: 'reads what heddle is installed with',
  },
  'src/store/sqlite/database/open-database.ts': {
    uses: 'copyFileSync linkSync openSync rmSync statSync',
    because: "heddle's own database",
  },
  'src/store/sqlite/maintenance/remove-draft.ts': {
    uses: 'rmSync',
    because: 'a database that has no name yet',
  },
  'src/store/sqlite/maintenance/rebuild-database.ts': {
    uses: 'copyFileSync openSync statSync',
    because: "copies of heddle's own database, and the database while nobody has it open",
  },
  'src/store/sqlite/maintenance/database-findings.ts': {
    uses: 'statSync',
    because: "heddle's own database",
  },
  'src/store/sqlite/maintenance/seal-copy.ts': {
    uses: 'statSync',
    because: "a copy of heddle's own database",
  },
  'src/store/sqlite/maintenance/store-maintenance.ts': {
    uses: 'copyFileSync linkSync openSync renameSync statSync',
    because: 'makes and reads backups where the user says, in a process of its own',
  },
  'src/store/sqlite/connect/error-cause.ts': {
    uses: 'openSync rmSync',
    because: 'creates a file with a new name, and removes it',
  },
  'src/store/sqlite/database/store-watch.ts': {
    uses: 'statSync',
    because: "heddle's own database",
  },
  'src/store/sqlite/database/swap-database.ts': {
    uses: 'renameSync rmSync statSync',
    because: "heddle's own database, used by no one",
  },
  'src/store/sqlite/database/sync-file.ts': {
    uses: 'openSync',
    because: "heddle's own database before it has its name",
  },
  'src/store/sqlite/maintenance/with-grafted-schema.ts': {
    uses: 'copyFileSync openSync statSync',
    because: "copies of heddle's own database",
  },
  'src/store/sqlite/wal/wal-sync.ts': { uses: 'openSync', because: "heddle's own WAL" },
  'src/store/sqlite/database/sweep-litter.ts': {
    uses: 'rmSync',
    because: 'removes what dead processes have left',
  },
  'src/store/sqlite/wal/set-aside-foreign-wal.ts': {
    uses: 'openSync renameSync rmSync statSync',
    because: "heddle's own database, if no process has it open",
  },
  'src/store/sqlite/wal/wal-marker.ts': {
    uses: 'openSync',
    because: "heddle's own WAL, which has no locks",
  },
  'src/tools/apply-patch/pinned-folders.ts': { uses: 'open', because: 'opens folders only' },
  'src/tools/apply-patch/write-plan.ts': {
    uses: 'rename unlink',
    because: 'asks first whether it is a file of the store',
  },
  'src/tools/command/outside/command-pin.ts': { uses: 'open', because: 'opens folders only' },
};
/** The files that start programs, and never git of their own accord. */
const STARTS_NO_GIT: Record<string, string> = {
  'src/agent/hooks/hook-runner.ts': 'the hooks of the configuration',
  'src/agent/mcp/run-safety-check.ts': 'the safety check of the configuration',
  'src/agent/notify/turn-notifier.ts': "the user's program",
  'src/client/spawn-server.ts': "the client's server",
  'src/handlers/client-processes/client-process.ts': 'what others pass',
  'src/handlers/command.ts': 'what a client names',
  'src/handlers/process.ts': 'what a client names',
  'src/mcp/server-process.ts': 'the servers of the configuration',
  'src/sandbox/linux/enter-namespace.ts': 'bubblewrap',
  'src/sandbox/linux/mount-first.ts': 'mount and bubblewrap',
  'src/sandbox/linux/probe-bubblewrap.ts': 'bubblewrap',
  'src/sandbox/local-listeners.ts': 'a script of its own',
  'src/sandbox/processes/pipes.ts': 'a shell that holds pipes',
  'src/sandbox/processes/process-table.ts': 'ps',
  'src/sandbox/processes/spawn-child.ts': 'what others pass',
  'src/sandbox/run-program.ts': 'what others pass',
  'src/search/list-files.ts': 'ripgrep',
  'src/tools/command/snapshot/take-snapshot.ts': "the user's shell",
  'src/tools/command/start-command.ts': 'the commands of models and users',
};
/**
 * What blocks the main thread for long if its input is long, and the files that may use it, with
 * the reason: mostly, why the input is short. All others use the doors, which do it in parts:
 * parseJson in base/parse-long-json.ts, base/text/decode-utf8.ts and utf8-text.ts.
 */
const BLOCKING: Record<string, { use: RegExp; files: Record<string, string> }> = {
  'parse JSON': {
    use: /\bJSON\.parse\(|\b(?:parsed|strict)Json\(/,
    files: {
      'src/agent/aside/read-verdict.ts': 'the verdict of a model, which has a limit',
      'src/agent/client-tools/client-tools.ts':
        'the tools of a thread, which a limit of the request bounds',
      'src/agent/review/read-review.ts': 'the answer of a reviewer',
      'src/base/json-value.ts': 'is parsedJson',
      'src/base/parse-long-json.ts': 'is the door',
      'src/cli/exec/read-prompt.ts': 'a schema within SCHEMA_BYTES_MAX, before the server starts',
      'src/cli/log/wire-log.ts': 'only with --wire-log',
      'src/cli/wire/json-cursor.ts': 'a part of a line that a person types',
      'src/cli/wire/parse-line.ts': 'a line that a person or a script of theirs writes',
      'src/client/server-connection.ts': 'the client, which is in another process',
      'src/config/hooks/hook-origins.ts': 'a file within FILE_BYTES_MAX',
      'src/config/toml/key-ranges.ts': 'a key',
      'src/config/login/stored-login.ts': 'a small file',
      'src/config/trust/trust-record.ts':
        'a line; the file is within RECORD_BYTES_MAX and parsed once',
      'src/handlers/config-writing/login-writer.ts': 'a small file',
      'src/hooks/read-output.ts': 'output within a limit',
      'src/mcp/host/pipe-transport.ts': 'in the worker of MCP servers',
      'src/mcp/oauth/credential-store.ts': 'a small file',
      'src/model/chat/chat-tool-calls.ts':
        'the argument of a custom tool; the pieces of a call without an index',
      'src/model/embedded/embedded-step.ts': 'a line of the user, for tests',
      'src/model/found-tools.ts': 'the result of a search of tools, which has a limit',
      'src/model/http/response/event-reader.ts':
        'events within SHORT_CHARS_MAX; longer ones go through the door',
      'src/model/http/event-redactor.ts': 'arguments within EXAMINED_CHARS_MAX',
      'src/model/http/http-failure.ts': 'the body of an error, which has a limit',
      'src/model/http/parameters/refusal-words.ts': 'the body of an error, which has a limit',
      'src/policy/rules/permanent-commands.ts': 'a line of a rule',
      'src/rollout/rollout-record.ts': 'a line of a file that is imported',
      'src/rollout/thread-name.ts': 'a short line',
      'src/sandbox/places/server-places.ts': 'manifests of our own packages',
      'src/sandbox/server-programs/program-files.ts': 'a manifest within MANIFEST_BYTES_MAX',
      'src/secrets/json-redactor.ts': 'texts of logs, reports and reviews',
      'src/store/encode-cursor.ts': 'a cursor',
      'src/store/sqlite/database/sweep-litter.ts': 'in the worker of the store',
      'src/store/sqlite/history/blobs.ts': 'in the worker of the store',
      'src/store/sqlite/history/partial-rows.ts': 'in the worker of the store',
      'src/store/sqlite/maintenance/fill-gaps.ts': 'in the worker of the store',
      'src/store/sqlite/maintenance/salvage-database.ts':
        'in the worker of the store, or in a process of its own',
      'src/tools/apply-patch/diff/streamed-changes.ts': 'input within PREVIEW_CHARS_MAX',
      'src/tools/look-command.ts':
        'the arguments that a guardian or hook writes, which have a limit',
      'src/tools/read-file.ts': 'the arguments that a guardian or hook writes, which have a limit',
      'src/transport/json-reader.ts': 'messages within SHORT_JSON_CHARS',
      'src/transport/request-ids.ts': 'the id of a request',
    },
  },
  'decode bytes at once': {
    use: /\bnew TextDecoder\(/,
    files: {
      'src/base/text/decode-utf8.ts': 'is the door',
      'src/config/hooks/hook-origins.ts': 'a file within FILE_BYTES_MAX',
      'src/config/layers/layer.ts': 'a file within CONFIG_BYTES_MAX',
      'src/config/rules-files.ts': 'a file within a limit',
      'src/config/trust/trust-record-file.ts': 'a file within RECORD_BYTES_MAX',
      'src/instructions/agents-md.ts': 'instructions, which have a limit',
      'src/instructions/skills/skill-body.ts': 'a skill, which has a limit',
      'src/model/script/load-scripted-model.ts': 'a script for tests',
      'src/network/socks-handshake.ts': 'the name of a host',
      'src/tools/read-file.ts': 'a file within a limit',
    },
  },
  'send to a worker': {
    use: /\bnew RemoteWorker\b|\brunInWorker\(|\bserveWorker[<(]/,
    files: {
      'src/base/worker/run-in-worker.ts': 'for its callers',
      'src/base/worker/serve-worker.ts': 'for its callers',
      'src/cli/progress/progress.worker.ts': 'nothing',
      'src/cli/progress/remote-progress.ts': 'a few words',
      'src/config/writing/edit-in-worker.ts': 'the text of a file within a limit, and edits',
      'src/config/writing/toml-editor.worker.ts': 'a text not much longer',
      'src/mcp/host/mcp.worker.ts': 'results within the limits of limited-result.ts',
      'src/mcp/mcp-host-client.ts':
        'calls, whose arguments have a limit of values and characters (McpCallAction)',
      'src/model/pictures/picture.worker.ts': 'a smaller picture',
      'src/model/pictures/scale-in-worker.ts': 'a picture within a limit',
      'src/search/worker/index-worker.ts': 'queries and lists of paths in parts',
      'src/search/worker/search.worker.ts': 'matches have a limit',
      'src/store/sqlite/worker/remote-store.ts':
        'calls to the store, within its budgets; long texts and histories are sent in pieces',
      'src/store/sqlite/worker/store.worker.ts': 'pages have a limit of bytes',
      'src/tools/command/network/worker/proxy.worker.ts': 'requests of commands, which have limits',
      'src/tools/command/network/worker/remote-proxies.ts': 'decisions about connections',
    },
  },
  'copy values': {
    use: /\bstructuredClone\(/,
    files: {
      'src/agent/items/open-items.ts': 'a reasoning item; others are copied at their top only',
      'src/agent/outbox/unfinished-items.ts':
        'a reasoning item; others are copied at their top only',
    },
  },
  'yield without a turn': {
    use: /\bsetImmediate\b/,
    files: {
      'src/agent/outbox/outbox.ts': 'gathers what is stored in one round',
      'src/agent/turn/turn-starter.ts': 'lets the store work on a start before it prepares more',
      'src/app.ts': 'loads the server in steps',
      'src/base/event-loop-yield.ts': 'is the door',
      'src/base/processes/spawn-program.ts': 'is the door of starts',
      'src/base/worker/serve-worker.ts': 'calls of one moment are joined',
      'src/deterministic/fixed-pace.ts': 'waits until the server is at rest',
      'src/deterministic/paced-process.ts': 'waits until the server is at rest',
      'src/cli/exec/asking/keyboard.ts': 'drops what a person typed before a question',
      'src/mcp/host/pipe-transport.ts': 'in the worker of MCP servers',
      'src/model/embedded/answer-writer.ts': 'the events of the embedded model',
      'src/sandbox/local-listeners.ts': 'waits for connections',
      'src/sandbox/processes/output-reader.ts': 'lets other streams be read',
      'src/sandbox/processes/process-table.ts':
        'a list of processes, for kills, which must not wait',
      'src/search/worker/path-index.ts': 'in the worker of searches',
      'src/server/connection.ts': 'orders messages',
      'src/server/dispatcher.ts': 'orders messages',
      'src/transport/web-socket-transport.ts': 'forgets what it has encoded in a round',
      'src/store/sqlite/store-databases.ts': 'in the worker of the store',
      'src/store/sqlite/store-queue.ts': 'in the worker of the store',
      'src/tools/command/network/turn-of-event-loop.ts': 'connections, in rounds of their own',
      'src/transport/json-writer.ts': 'joins what is written in one round',
    },
  },
};
const NOT_OURS = ['node_modules', 'dist', '.git', '.cache'];

const projectFiles = filesIn('');
const { clientRequests } = JSON.parse(textOf('schema/methods.json')) as {
  clientRequests: Record<string, { result?: string } | null>;
};
const served = Object.keys(clientRequests).filter(
  (method) => clientRequests[method]?.result !== undefined,
);
const source = projectFiles.filter((path) => /^src\/.*\.[jt]s$/.test(path) && !isGenerated(path));
const tests = projectFiles.filter(
  (path) => /^test\/.*\.ts$/.test(path) && !isGenerated(path) && path !== 'test/tidy.test.ts',
);

describe('the source', () => {
  test('has a place in the layers for each of its files', () => {
    expect(source.filter((path) => layerOf(path) === -1)).toEqual([]);
  });

  test('imports downwards only', () => {
    const upward = source.flatMap((path) =>
      importsOf(path)
        .filter((target) => part(target) !== part(path) && layerOf(target) <= layerOf(path))
        .map((target) => `${path} imports ${target}`),
    );
    expect(upward).toEqual([]);
  });

  test('does not know the client, but for the entry that gives one, and the command line', () => {
    const knowing = source.filter((path) =>
      importsOf(path).some((target) => part(target) === 'client'),
    );
    expect(knowing.filter((path) => !['client', 'index.ts', 'cli'].includes(part(path)))).toEqual(
      [],
    );
  });

  test('keeps the rooms of the agent below its threads', () => {
    const rooms = source.filter((path) => /^src\/agent\/(?!threads\/)[^/]+\//.test(path));
    const rising = rooms.filter((path) =>
      importsOf(path).some((target) =>
        /^src\/agent\/threads\/(loaded-)?threads?\.ts$/.test(target),
      ),
    );
    expect(rising).toEqual([]);
  });

  test('has nine rooms whose folders have an order in src/README.md', () => {
    expect([...ORDERS.keys()]).toHaveLength(9);
  });

  test.each([...ORDERS])('keeps the folders of %s in the order of src/README.md', (room, order) => {
    const placeOf = (path: string) =>
      order.findIndex((folders) => folders.some((name) => path.startsWith(`src/${room}/${name}/`)));
    const inFolders = source.filter(
      (path) => path.startsWith(`src/${room}/`) && placeOf(path) >= 0,
    );
    const folders = new Set(
      source.flatMap((path) => path.match(`^src/${room}/([^/]+)/`)?.slice(1) ?? []),
    );
    expect([...folders].sort()).toEqual(order.flat().sort());
    const rising = inFolders.flatMap((path) =>
      importsOf(path)
        .filter((target) => placeOf(target) >= 0 && folderIn(room, target) !== folderIn(room, path))
        .filter((target) => placeOf(target) <= placeOf(path))
        .map((target) => `${path} imports ${target}`),
    );
    expect(rising).toEqual([]);
  });

  test('has SQL in src/store only', () => {
    const sql =
      /\b(SELECT\s[^;]*\sFROM|INSERT\s+(OR\s+\w+\s+)?INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+(TABLE|INDEX)|PRAGMA\s+\w+)\b/;
    const outside = source.filter((path) => part(path) !== 'store');
    expect(
      outside.filter(
        (path) => sql.test(codeOf(path)) || /from 'better-sqlite3'/.test(codeOf(path)),
      ),
    ).toEqual([]);
  });

  test('reaches for `process` where it begins only: the executable, the library, and the client that starts servers', () => {
    const reaching = /(?<![/-])\bprocess\s*[.[]|(from|require\()\s*'(node:)?process'/;
    const beginnings = ['src/main.ts', 'src/index.ts', 'src/client/spawn-server.ts'];
    // It has the text of a program that runs in a process of its own.
    const withProgram = 'src/sandbox/local-listeners.ts';
    // They need the functions hrtime and nextTick alone.
    const ofTime = ['src/base/clock.ts', 'src/base/event-loop-yield.ts'];
    const allowed = [...beginnings, ...ofTime, withProgram];
    const others = source.filter((path) => !allowed.includes(path));
    expect(others.filter((path) => reaching.test(codeOf(path)))).toEqual([]);
  });

  test('makes folders with their parents in base/paths/make-folder.ts only: Node never returns from it in /proc', () => {
    const recursive = /\bmkdir(Sync)?\((?:[^()]|\([^()]*\))*\brecursive\b/;
    expect(source.filter((path) => recursive.test(codeOf(path)))).toEqual([]);
  });

  test('starts programs outside the sandbox for a reason that the sandbox knows: what they run must not have been written by commands', () => {
    const free = source.filter(
      (path) => /bounds: null\b/.test(codeOf(path)) && !/\bstartedFor\b/.test(codeOf(path)),
    );
    // A client starts its own process there, and ripgrep belongs to the server.
    expect(free).toEqual(['src/handlers/process.ts', 'src/search/list-files.ts']);
    const starting = source.filter((path) => /\bkind: 'configured'(?! \|)/.test(codeOf(path)));
    expect(starting).toEqual([
      'src/agent/notify/turn-notifier.ts',
      'src/mcp/server-process.ts',
      'src/sandbox/run-program.ts',
    ]);
  });

  test('starts git with git/safe-git-env.ts only, which keeps it from starting what a repository names', () => {
    const safe = 'src/git/safe-git-env.ts';
    const setting =
      /\bGIT_(?:CONFIG|OPTIONAL|TERMINAL|NO_LAZY|ALLOW)|core\.(?:hooksPath|fsmonitor)/i;
    expect(source.filter((path) => setting.test(codeOf(path)))).toEqual([safe]);
    const start = /\b(?:runProgram|runToEnd|spawnProgram)\(|\b(?:clientP|p)rocesses\s*\.start\(/;
    const others = source.filter(
      (path) => start.test(codeOf(path)) && !importsOf(path).includes(safe),
    );
    expect(others).toEqual(Object.keys(STARTS_NO_GIT));
  });

  test('reads the files of a project that set anything in config/trust/find-project-files.ts only: they need the trust of the user', () => {
    const naming = source.filter((path) => /\.codex\b/.test(codeOf(path)));
    // Skills set nothing. sandbox-bounds.ts has the name because commands cannot write there, and
    // codex-home.ts is about another home.
    const others = [
      'src/instructions/skills/skill-places.ts',
      'src/policy/permissions/sandbox-bounds.ts',
    ];
    expect(naming).toEqual([
      'src/config/login/codex-home.ts',
      'src/config/trust/find-project-files.ts',
      ...others,
    ]);
  });

  test('asks is-empty-git-folder.ts wherever it looks for the repository of a folder: an empty `.git` is none', () => {
    const searching = source.filter((path) =>
      /\bjoin\((?:folder|above|one), '\.git'\)/.test(codeOf(path)),
    );
    // This one protects every `.git`.
    const others = searching.filter((path) => path !== 'src/sandbox/places/find-nested-places.ts');
    expect(
      others.filter(
        (path) => !/\bisEmptyGitFolder\(|filter\(isEmptyGitFolder\)/.test(codeOf(path)),
      ),
    ).toEqual([]);
    expect(others).toHaveLength(4);
  });

  test('reads only such files in the home as no command can create or change: they decide what runs, or have keys', () => {
    const read = source
      .filter((path) => /^src\/(config|mcp|handlers\/config-writing)\//.test(path))
      .flatMap(homeFilesOf);
    expect(read.length).toBeGreaterThan(15);
    const isProtected = (name: string) =>
      isOfHome(join('/home', name), '/home', HOME_PROTECTED) || isSecretCopy(name);
    expect(read.filter(({ name }) => !isProtected(name)).map(({ place }) => place)).toEqual([
      // The files of profiles, which all contain `config.toml`.
      'src/config/load-config.ts: name',
      // Compares paths only.
      'src/config/trust/find-project-files.ts: name',
      // Locks, which nobody reads.
      'src/mcp/oauth/credential-store.ts: name',
    ]);
    expect(isProtected(profileFile('work') ?? '')).toBe(true);
  });

  test('opens, lists, replaces and removes files that others wrote with base/files/ only, and looks at their names with base/paths/', () => {
    const open = source.filter((path) => !/^src\/base\/paths\//.test(path));
    const raw = open.flatMap((path) => fsUsesOf(path).map((name) => `${path}: ${name}`));
    const allowed = Object.entries(FS_FOR_SOME).flatMap(([path, { uses }]) =>
      uses.split(' ').map((name) => `${path}: ${name}`),
    );
    expect(raw.sort()).toEqual(allowed.sort());
  });

  test("sends requests with base/http/ only, which uses the user's proxies and certificates; src/network is the proxy of commands", () => {
    const sending = /\brequest\b[^;]*from 'node:https?'|import\('node:https?'\)|(?<![.#\w])fetch\(/;
    const others = source.filter((path) => !/^src\/(?:base\/http|network)\//.test(path));
    expect(others.filter((path) => sending.test(textOf(path)))).toEqual([]);
  });

  test('measures no duration by the wall clock, except against times of files and of processes that are gone', () => {
    const elapsed =
      /(clock|Date)\.now\(\)\s*-|-\s*[\w.#]*(clock|Date)\.now\(\)|\w+AtMs\s*-|-\s*[\w.]+AtMs\b/;
    const measuring = source.filter((path) =>
      elapsed.test(codeOf(path).replaceAll('monotonic() - shownAtMs', '')),
    );
    // own-file.ts compares with the time of change of a file, which is the system's.
    expect(measuring).toEqual([
      'src/base/files/own-file.ts',
      'src/rollout/rollout-log.ts',
      'src/store/settling-entries.ts',
    ]);
  });

  test('starts programs with base/processes/spawn-program.ts only: a spawn without file descriptors left would end the process', () => {
    const starting =
      /import (?!type )[^;]*from '(?:node:)?child_process'|(?:import|require)\('(?:node:)?child_process'\)/;
    expect(source.filter((path) => starting.test(textOf(path)))).toEqual([
      'src/base/processes/spawn-program.ts',
    ]);
  });

  test('starts workers and sends messages to them in base/worker/ only: what waits for a worker ends with it, however it ends', () => {
    const starting =
      /\bnew Worker\(|import [^;{]*\{[^};]*(?<!type )\bWorker\b[^;]*from '(?:node:)?worker_threads'/;
    const starters = source.filter(
      (path) => starting.test(textOf(path)) && !/import type \{ Worker \}/.test(textOf(path)),
    );
    expect(starters).toEqual(['src/base/worker/remote-worker.ts']);
    const senders = source.filter((path) => /\.postMessage\(|\bparentPort\b/.test(codeOf(path)));
    expect(senders).toEqual([
      'src/base/worker/remote-worker.ts',
      'src/base/worker/serve-worker.ts',
    ]);
  });

  test('keeps what it loads or makes once with base/loading/once.ts, which does not keep a failure: its cause may pass', () => {
    const keeping = /\?\?=\s*(?:\(?async\b|import\()|\?\?=[^;]*?\bimport\(|let load\w*: Promise</;
    expect(source.filter((path) => keeping.test(codeOf(path)))).toEqual([]);
  });

  test('asks by one function whether a model may read a file, and gives each thread what its profile hides', () => {
    const uses = (pattern: RegExp) => source.filter((path) => pattern.test(codeOf(path))).sort();
    const outside = (paths: string[]) =>
      paths.filter((path) => !path.startsWith('src/policy/permissions/'));
    expect(outside(uses(/\bisReadable\b.*is-writable\.ts/))).toEqual([
      'src/sandbox/places/real-bounds.ts',
      'src/tools/command/command-bounds.ts',
      'src/tools/may-read.ts',
    ]);
    // `execBounds` gets the folders of a request. Every other caller gets those of a thread.
    const calls = outside(uses(/\bsandboxBounds\(/)).filter(
      (path) => path !== 'src/handlers/client-processes/exec-bounds.ts',
    );
    expect(
      calls.filter((path) => !/\bsandboxBounds\([^;]*sandboxFolders\(/.test(codeOf(path))),
    ).toEqual([]);
    expect(uses(/\bfindHidden\(/)).toEqual([
      'src/sandbox/linux/sandbox-view.ts',
      'src/sandbox/macos/create-seatbelt.ts',
      'src/sandbox/places/find-hidden.ts',
      'src/tools/may-read.ts',
    ]);
  });

  test.each(Object.entries(BLOCKING))(
    'may %s only in the files that are listed with a reason',
    (_name, { use, files }) => {
      expect(source.filter((path) => use.test(codeOf(path))).sort()).toEqual(
        Object.keys(files).sort(),
      );
    },
  );

  test('awaits mayStart() directly before it starts a program, so that many starts do not block the main thread', () => {
    const starting = source.filter(
      (path) =>
        /\bspawnProgram\(/.test(codeOf(path)) && path !== 'src/base/processes/spawn-program.ts',
    );
    // The client starts one program, in another process.
    expect(starting.filter((path) => !/await mayStart\(\);\n/.test(codeOf(path)))).toEqual([
      'src/client/spawn-server.ts',
    ]);
  });

  test('measures time with base/clock.ts: performance.now() loads a module of Node', () => {
    expect(source.filter((path) => /\bperformance\.now\b/.test(codeOf(path)))).toEqual([]);
  });

  test('makes no pattern with Unicode classes while it is loaded, which takes up to a millisecond of the start for each', () => {
    const early = /^(export )?const \w+(: RegExp)? =\s+\/.*\\p\{/m;
    expect(source.filter((path) => early.test(textOf(path)))).toEqual([]);
  });

  test('decides in tools/denial.ts only that the item of an action counts as declined', () => {
    const deciding = source.filter(
      (path) => /status: [^,}\n]*'declined'/.test(codeOf(path)) && !path.startsWith('src/rollout/'),
    );
    expect(deciding).toEqual([]);
  });

  test('hides nothing from those who decide by the masks for logs: decision-mask.ts is theirs', () => {
    const deciding = source.filter((path) => /^src\/(?:agent|tools|hooks|policy)\//.test(path));
    // The message of a check that failed is told, and nobody judges by it.
    expect(
      deciding.filter((path) => /\b(?:jsonRedactor|redactLikelySecrets)\(/.test(codeOf(path))),
    ).toEqual(['src/agent/mcp/run-safety-check.ts']);
  });

  test('stores the author of each message for the model, and judges by the text only what other programs wrote', () => {
    const isBare = (line: string) =>
      /kind: 'model', (turnId|item)/.test(line) && !/author/.test(line);
    const bare = source.filter((path) => codeOf(path).split('\n').some(isBare));
    expect(bare).toEqual(['src/agent/items/response-items.ts']);
    const judging = source.filter(
      (path) =>
        /\b(isUserMessage|writtenBy)\(/.test(codeOf(path)) && !path.startsWith('src/rollout/'),
    );
    expect(judging).toEqual(['src/agent/turn/inject-model-items.ts']);
  });

  test('passes everything that a client writes through the one queue: only the reader and the connection know its notifications', () => {
    const knowing = source.filter((path) => /READER_NOTIFICATIONS/.test(codeOf(path)));
    expect(knowing).toEqual(['src/server/connection.ts', 'src/transport/json-reader.ts']);
  });

  test('names each file after one of its exports; in handlers/, a file of methods after the methods; files of errors after their subject', () => {
    const scripts = [
      'src/main.ts',
      'src/index.ts',
      'src/client/index.ts',
      ...source.filter((path) => path.endsWith('.worker.ts')),
    ];
    const entries = [
      ...scripts,
      'src/sandbox/processes/node-pty.d.ts',
      'src/store/sqlite/connect/node-sqlite.d.ts',
    ];
    const misnamed = source.filter((path) => !entries.includes(path) && !isNamedAfterExport(path));
    const ofMethods = (path: string) =>
      path.startsWith('src/handlers/') && methodsIn(path).length > 0;
    const ofErrors = (path: string) => /^src\/protocol\/errors\/[a-z-]+-errors\.ts$/.test(path);
    expect(misnamed.filter((path) => !ofMethods(path) && !ofErrors(path))).toEqual([]);
  });

  test('serves each method from the file of the longest prefix of its name that exists, or from always-empty.ts', () => {
    const places = source
      .filter((path) => path.startsWith('src/handlers/'))
      .flatMap((path) => methodsIn(path).map((method) => ({ method, path })));
    expect(places.map(({ method }) => method).sort()).toEqual([...served].sort());
    expect(
      places.filter(
        ({ method, path }) =>
          path !== 'src/handlers/always-empty.ts' && path !== fileOfMethod(method),
      ),
    ).toEqual([]);
  });

  test('has no folder that became a warehouse', () => {
    const counts = new Map<string, number>();
    for (const path of source)
      counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > FOLDER_FILES_MAX)).toEqual([]);
  });

  test('has one doc comment above a declaration', () => {
    expect(source.filter((path) => /\*\/\s*\/\*\*/.test(textOf(path)))).toEqual([]);
  });

  test('has no line over 100 columns that a person could divide', () => {
    const files = readSource(root, ['src', 'schema', 'bin', 'examples', 'test']);
    expect(files.flatMap(wideLines)).toEqual([]);
  });

  test(`has no file over ${SOURCE_LINES_MAX} lines`, () => {
    const written = projectFiles.filter(
      (path) => /^(src|schema|bin|examples)\/.*\.[jt]s$/.test(path) && !isGenerated(path),
    );
    const long = written.map((path) => `${path}: ${textOf(path).split('\n').length - 1}`);
    expect(long.filter((line) => Number(line.split(': ')[1]) > SOURCE_LINES_MAX)).toEqual([]);
  });
});

test('no file or folder is named utils: what it does is its name', () => {
  expect(projectFiles.filter((path) => /(^|[/.-])util(s|ities)?([/.-]|$)/i.test(path))).toEqual([]);
});

test('src/README.md names only files that exist', () => {
  const named = [...textOf('src/README.md').matchAll(/[\w./*-]+\.ts\b/g)].map(([path]) => path);
  expect(
    [...new Set(named)].filter(
      (path) =>
        !path.includes('*') && !projectFiles.some((file) => `/${file}`.endsWith(`/${path}`)),
    ),
  ).toEqual([]);
});

const DESIGN = projectFiles.filter((path) => /^docs\/design\/.*\.md$/.test(path));

test.each(DESIGN)('%s names only files that exist, and by paths that begin in src/', (page) => {
  const named = namedFiles(textOf(page), projectFiles);
  expect(named.filter(({ path }) => path === null)).toEqual([]);
});

test('the migrations are numbered from 0001 without a gap', () => {
  const names = projectFiles
    .filter((path) => path.startsWith('migrations/'))
    .map((path) => posix.basename(path));
  expect(names.filter((name) => !/^\d{4}_[a-z0-9_]+\.sql$/.test(name))).toEqual([]);
  expect(names.map((name) => Number(name.slice(0, 4)))).toEqual(
    names.map((_name, index) => index + 1),
  );
});

test('no test waits for time to pass', () => {
  const waiting = /\b(setTimeout|setInterval)\b|\bsleep\s*\(/;
  const checked = tests.filter(
    (path) => !path.startsWith('test/bench/') && path !== 'test/base/clock.test.ts',
  );
  expect(checked.filter((path) => waiting.test(codeOf(path)))).toEqual([]);
});

test('every method that is served is named in a test', () => {
  const text = tests.map(textOf).join('\n');
  expect(served.filter((method) => !text.includes(`'${method}'`))).toEqual([]);
});

test('the pages on durability name only tests and kinds of faults that exist', () => {
  const text = ['docs/durability.md', 'docs/durability/disk.md', 'docs/durability/tests.md']
    .map(textOf)
    .join('\n');
  const kinds = tests
    .filter((path) => /\/faults\/.*-faults\.ts$/.test(path))
    .map(textOf)
    .join('\n');
  const faults = [...text.matchAll(/`faults: ([\w-]+)`/g)].map(([, kind]) => kind);
  expect(faults.filter((kind) => !kinds.includes(`name: '${kind}'`))).toEqual([]);
  const named = [...text.matchAll(/`(test\/[\w./-]+\.ts)`((?:[:,]\s+"[^"]+")*)/g)];
  // The names are in a list, and nowhere else.
  expect(named.filter(([, , names]) => names !== '').length).toBeGreaterThan(15);
  const missing = named.flatMap(([, path = '', names = '']) => {
    if (!tests.includes(path)) return [path];
    return [...names.matchAll(/"([^"]+)"/g)].flatMap(([, name = '']) =>
      textOf(path).includes(`'${name}'`) ? [] : [`${path}: ${name}`],
    );
  });
  expect(missing).toEqual([]);
});

test('no file names a folder of the machine it was written on', () => {
  const folders = [root, homedir()].map(
    (folder) => new RegExp(`(?<![\\w.-])${folder.replaceAll('.', '\\.')}/`),
  );
  const naming = projectFiles.flatMap((path) =>
    folders.filter((folder) => folder.test(textOf(path))).map((folder) => `${path}: ${folder}`),
  );
  expect(naming).toEqual([]);
});

describe('the tests', () => {
  test('have no helper with the same body in two files: it belongs to test/support, or to one of them', () => {
    expect(helpersTwice(readSource(root, ['test']))).toEqual([]);
  });

  const files = tests.filter((path) => path.endsWith('.test.ts'));

  test('that measure time have the tag slow, so npm test leaves them out', () => {
    const measuring = files.filter((path) =>
      /^test\/process\/(?:timed|hostile|faults)\//.test(path),
    );
    expect(measuring.length).toBeGreaterThan(10);
    expect(measuring.filter((path) => !textOf(path).startsWith('// @module-tag slow\n'))).toEqual(
      [],
    );
  });

  test('that take the number of their inputs from support/runs.ts have the tag seeded, so test:rest runs them with all', () => {
    const seeded = files.filter(
      (path) => /\bruns\(/.test(textOf(path)) && textOf(path).includes('support/runs.ts'),
    );
    expect(seeded.length).toBeGreaterThan(10);
    expect(seeded.filter((path) => !textOf(path).includes("tags: 'seeded'"))).toEqual([]);
  });
});

describe('package-lock.json', () => {
  const lock = JSON.parse(textOf('package-lock.json')) as {
    packages: Record<string, LockedPackage>;
  };

  test('records no download address', () => {
    const addressed = Object.entries(lock.packages).filter(([, { resolved }]) =>
      resolved?.startsWith('http'),
    );
    expect(addressed.map(([path]) => path)).toEqual([]);
  });

  // A registry may lack packages of other platforms, and then nobody can look up their hashes.
  test('has the hash of every package, except development tools of other platforms', () => {
    const others = Object.entries(lock.packages).filter(
      ([path, { integrity }]) => path !== '' && integrity === undefined,
    );
    const isOtherTool = ({ dev, optional, os }: LockedPackage) =>
      dev === true && optional === true && os?.length === 1;
    expect(others.filter(([, locked]) => !isOtherTool(locked)).map(([path]) => path)).toEqual([]);
    expect(others.filter(([path]) => existsSync(join(root, path))).map(([path]) => path)).toEqual(
      [],
    );
  });

  test('has one package whose install script runs, better-sqlite3, and users of the package install no other that has one', () => {
    const scripted = Object.entries(lock.packages).filter(
      ([, { hasInstallScript }]) => hasInstallScript === true,
    );
    expect(scripted.filter(([, { dev }]) => dev !== true).map(([path]) => path)).toEqual([
      'node_modules/better-sqlite3',
    ]);
    const { allowScripts } = JSON.parse(textOf('package.json')) as {
      allowScripts: Record<string, boolean>;
    };
    expect(Object.keys(allowScripts).filter((name) => allowScripts[name])).toEqual([
      'better-sqlite3',
    ]);
    expect(
      scripted.filter(([path]) => allowScripts[path.replace('node_modules/', '')] === undefined),
    ).toEqual([]);
  });

  test("names the packages of every platform, or `npm ci` refuses it ('npm run lockfile' adds them)", () => {
    const optional = Object.entries(lock.packages).flatMap(
      ([path, { optionalDependencies = {} }]) =>
        Object.keys(optionalDependencies).map((name) => ({
          name,
          paths: [`node_modules/${name}`, `${path}/node_modules/${name}`],
        })),
    );
    expect(
      optional
        .filter(({ paths }) => !paths.some((path) => path in lock.packages))
        .map(({ name }) => name),
    ).toEqual([]);
  });
});

interface LockedPackage {
  integrity?: string;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  hasInstallScript?: boolean;
  resolved?: string;
  optionalDependencies?: Record<string, string>;
}

/** Paths from the root, with slashes, sorted. */
function filesIn(folder: string): string[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true }).filter(
    (entry) => !NOT_OURS.includes(entry.name),
  );
  return entries
    .flatMap((entry) => {
      const path = posix.join(folder, entry.name);
      return entry.isDirectory() ? filesIn(path) : [path];
    })
    .sort();
}

function textOf(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** Without whole-line comments. */
function codeOf(path: string): string {
  return textOf(path).replace(/^\s*(\/\/|\/?\*).*$/gm, '');
}

function isGenerated(path: string): boolean {
  return path.includes('/generated/');
}

/**
 * The functions of node:fs that a file imports and that not every file may use. Any other way to
 * import the module is `*`.
 */
function fsUsesOf(path: string): string[] {
  const code = codeOf(path);
  const imports = [
    ...code.matchAll(/^import (type )?\{([^}]*)\} from 'node:fs(?:\/promises)?';$/gm),
  ];
  const mentions = code.match(/['"`](node:)?fs(\/promises)?['"`]/g) ?? [];
  const names = imports
    .flatMap(([, isType, list = '']) => (isType === undefined ? list.split(',') : []))
    .map((name) => name.trim());
  const functions = names
    .filter((name) => name !== '' && !name.startsWith('type '))
    .map((name) => name.split(' as ')[0] ?? name);
  const raw = functions.filter((name) => !FS_FOR_ALL.split(' ').includes(name));
  return mentions.length === imports.length ? raw : [...raw, '*'];
}

/**
 * The paths that a file joins with the home: each name, or the expression if it is neither a string
 * nor a constant of the source.
 */
function homeFilesOf(path: string): { place: string; name: string }[] {
  return [...codeOf(path).matchAll(/\bjoin\((?:this\.#?)?(?:\w+\.)*home, ([^,)]+)\)/g)].map(
    ([, written = '']) => {
      const constant = /^[A-Z_]+$/.test(written)
        ? new RegExp(`^(?:export )?const ${written} = '([^']*)';`, 'm')
        : null;
      const found =
        constant === null
          ? undefined
          : [path, ...source].map((each) => codeOf(each).match(constant)?.[1]).find(Boolean);
      return { place: `${path}: ${written}`, name: found ?? written.replaceAll("'", '') };
    },
  );
}

/** Whether a file has an export with its name: `readRules` or `READ_RULES` in read-rules.ts. */
function isNamedAfterExport(path: string): boolean {
  const name = posix.basename(path, posix.extname(path)).replaceAll('-', '');
  const exported = [
    ...textOf(path).matchAll(
      /^export (?:async )?(?:const|let|function\*?|(?:abstract )?class|interface|type) (\w+)/gm,
    ),
  ];
  return exported.some(([, word = '']) => word.replaceAll('_', '').toLowerCase() === name);
}

/** The methods that a file of handlers serves: the keys of its rows. */
function methodsIn(path: string): string[] {
  return [...codeOf(path).matchAll(/^ {4}'?([\w/]+)'?: \{/gm)]
    .map(([, method = '']) => method)
    .filter((method) => method in clientRequests);
}

/**
 * The file that a method belongs in: `thread/goal/set` in thread/goal/set.ts, else thread/goal.ts,
 * else thread.ts.
 */
function fileOfMethod(method: string): string | undefined {
  const words = method
    .split('/')
    .map((word) =>
      word.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replaceAll('_', '-'),
    );
  const prefixes = words.map(
    (_word, index) => `src/handlers/${words.slice(0, words.length - index).join('/')}.ts`,
  );
  return prefixes.find((path) => source.includes(path));
}

/** The folder below src that a file is in, or the file itself: what the layers are made of. */
function part(path: string): string {
  return path.split('/')[1] ?? '';
}

function folderIn(room: string, path: string): string {
  return path.slice(`src/${room}/`.length).split('/')[0] ?? '';
}

function layerOf(path: string): number {
  return LAYERS.findIndex((layer) => layer.includes(part(path)));
}

/** The project's own files that a file imports, types included. */
function importsOf(path: string): string[] {
  const specifiers = [...codeOf(path).matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']*)'/g)].map(
    (match) => match[1] ?? '',
  );
  return specifiers
    .map((specifier) => posix.join(posix.dirname(path), specifier))
    .filter((target) => target.startsWith('src/'));
}
