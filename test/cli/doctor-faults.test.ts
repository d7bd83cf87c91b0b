import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { DoctorCheck, DoctorProblem } from '../../src/cli/doctor/doctor-check.ts';
import { runCheck } from '../../src/cli/doctor/run-check.ts';
import { runDoctor } from '../../src/cli/doctor/run-doctor.ts';
import { tempFolder } from '../config/temp-folder.ts';
import { EXECUTABLE } from '../process/support.ts';
import { threadWithTurns } from '../store/samples.ts';
import { tempHome } from '../store/temp-home.ts';
import { FakeClock } from '../support/fake-clock.ts';

const ROOT = dirname(dirname(import.meta.dirname));

/**
 * A home, a project and the home folder of the user, which faults change before the doctor looks.
 */
interface World {
  home: string;
  project: string;
  userHome: string;
  systemDir: string;
  /** The lines of config.toml before its tables, and its tables. */
  top: string[];
  tables: string[];
  /** The path of the provider's base_url, which has no model but those. */
  basePath: string;
  homeSource: string;
}

/**
 * What a fault is expected to be told as. `WORLD` stands for the folder of the home and the
 * project.
 */
type Told = [
  check: DoctorCheck['name'],
  severity: DoctorProblem['severity'],
  message: string | RegExp,
  fix: string | RegExp,
];

interface Fault {
  what: string;
  make: (world: World) => unknown;
  told: Told[];
}

function put(path: string, text: string | Buffer, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
}

let port = 0;

beforeAll(async () => {
  const server = createServer((request, response) => {
    const lists = request.url === '/v1/models';
    response.writeHead(lists ? 200 : 404, { 'content-type': 'application/json' });
    response.end(
      lists
        ? '{"object":"list","data":[{"id":"vendor/model-one"},{"id":"model-two"}]}'
        : '{"error":"not found"}',
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
  return () => {
    server.closeAllConnections();
    server.close();
  };
});

/**
 * The files of a database with a few threads: closed, or as a server leaves them that is killed.
 */
async function database({ isClosed }: { isClosed: boolean }): Promise<Record<string, Buffer>> {
  const made = tempHome();
  const store = made.open();
  for (let number = 1; number <= 3; number++) await threadWithTurns(store, number, ['t1', 't2']);
  if (isClosed) await store.close();
  return Object.fromEntries(
    ['', '-wal', '-shm'].flatMap((end) =>
      existsSync(made.file + end) ? [[end, readFileSync(made.file + end)]] : [],
    ),
  );
}

async function putDatabase(
  { home }: World,
  options: { isClosed: boolean; isDamaged: boolean },
): Promise<void> {
  const files = await database(options);
  const main = files[''] ?? Buffer.alloc(0);
  // Not in the first pages: those of tables and indexes follow.
  if (options.isDamaged) main.fill(0xa5, main.length / 2);
  for (const [end, bytes] of Object.entries(files)) put(join(home, `heddle.db${end}`), bytes);
}

const FAULTS: Fault[] = [
  {
    what: 'a hook whose script is missing',
    make: ({ home }) => {
      const hooks = { Stop: [{ hooks: [{ type: 'command', command: 'sh /no/such/script.sh' }] }] };
      put(join(home, 'hooks.json'), JSON.stringify({ hooks }));
    },
    told: [
      [
        'configuration',
        'warning',
        /the script \/no\/such\/script\.sh is missing/,
        'Follow the message, or correct the file.',
      ],
    ],
  },
  {
    what: 'a notify program that is missing',
    make: ({ top }) => void top.push('notify = ["/no/such/notify", "x"]'),
    told: [
      [
        'programs',
        'warning',
        'the program /no/such/notify of notify is missing or cannot be used, so nobody is notified of the ends of turns',
        'Install it, or correct notify in config.toml.',
      ],
    ],
  },
  {
    what: 'a safety check whose script is missing',
    make: ({ tables }) =>
      void tables.push('[mcp_safety_check]\ncommand = "sh"\nargs = ["/no/such/check.sh"]'),
    told: [
      [
        'programs',
        'warning',
        'the script /no/such/check.sh of mcp_safety_check.command is missing or cannot be used, so the calls of MCP tools are refused',
        'Install it, or correct mcp_safety_check.command in config.toml.',
      ],
    ],
  },
  {
    what: 'a skill without front matter',
    make: ({ home }) => put(join(home, 'skills', 'bare', 'SKILL.md'), '# Bare\n'),
    told: [
      [
        'skills',
        'warning',
        'the skill WORLD/home/skills/bare/SKILL.md cannot be used: no front matter: expected name and description between two lines of ---',
        /^Begin the file with a line of ---/,
      ],
    ],
  },
  {
    what: 'a damaged database',
    make: (world) => putDatabase(world, { isClosed: true, isDamaged: true }),
    told: [
      [
        'store',
        'error',
        /^WORLD\/home\/heddle\.db is damaged: /,
        'Run: heddle store repair. It keeps the damaged file.',
      ],
    ],
  },
  {
    what: 'trust in folders that are gone',
    make: ({ tables }) => void tables.push('[projects."/no/such/folder"]\ntrust_level = "trusted"'),
    told: [
      [
        'trust',
        'warning',
        /^\[projects\."\/no\/such\/folder"\] is about a folder that does not exist/,
        /^Remove \[projects\."\/no\//,
      ],
    ],
  },
  {
    what: "a project's file that is not in force",
    make: ({ project }) => {
      put(join(project, '.codex', 'config.toml'), 'model = "x"\n');
      put(join(project, '.codex', 'hooks.json'), '{}');
    },
    told: ['config.toml', 'hooks.json'].map((name) => [
      'configuration',
      'warning',
      `WORLD/project/.codex/${name} is not in force: WORLD/project is not trusted`,
      'To trust it, set trust_level = "trusted" under [projects."WORLD/project"] in the config.toml in your heddle home.',
    ]),
  },
  {
    what: 'a feature that is unknown',
    make: ({ tables }) => void tables.push('[features]\ngoalz = true'),
    told: [
      ['configuration', 'warning', /: features\.goalz is not a known key$/, 'Did you mean goals?'],
    ],
  },
  {
    what: 'a setting that the administrator does not allow',
    make: ({ top, systemDir }) => {
      top.push('approval_policy = "never"');
      put(join(systemDir, 'requirements.toml'), 'allowed_approval_policies = ["on-request"]\n');
    },
    told: [
      [
        'configuration',
        'error',
        /approval_policy: "never" is not allowed by WORLD\/system\/requirements\.toml, so "on-request" counts$/,
        'Correct the value in this line.',
      ],
    ],
  },
  {
    what: 'a model that the provider does not list',
    make: ({ top }) => void top.push('model = "model-too"'),
    told: [
      [
        'provider',
        'warning',
        'the provider p does not list the model model-too',
        'Did you mean model-two?',
      ],
    ],
  },
  {
    what: 'the home of Codex',
    make: (world) => {
      put(join(world.userHome, '.codex', 'config.toml'), '');
      world.homeSource = 'the default';
    },
    told: [
      [
        'home',
        'warning',
        'heddle does not use WORLD/user/.codex, which is there, because CODEX_HOME is not set',
        'To use it, set CODEX_HOME=WORLD/user/.codex. docs/coming-from-codex.md says what heddle does with it.',
      ],
    ],
  },
];

/** Faults that cannot come together with the others. */
const APART: Fault[] = [
  {
    what: 'a key that a project cannot set',
    make: ({ project, tables }) => {
      put(join(project, '.codex', 'config.toml'), 'notify = ["x"]\n');
      tables.push(`[projects.${JSON.stringify(project)}]\ntrust_level = "trusted"`);
    },
    told: [
      [
        'configuration',
        'warning',
        /notify is ignored: /,
        'Set it in the config.toml in your heddle home instead.',
      ],
    ],
  },
  {
    what: "a project's file that cannot be read, while the rest is looked at",
    make: ({ project, tables, top }) => {
      put(join(project, '.codex', 'config.toml'), 'model = [');
      tables.push(`[projects.${JSON.stringify(project)}]\ntrust_level = "trusted"`);
      top.push('model = "model-too"');
    },
    told: [
      [
        'configuration',
        'error',
        /WORLD\/project\/\.codex\/config\.toml:1:/,
        'Correct the value in this line.',
      ],
      [
        'provider',
        'warning',
        'the provider p does not list the model model-too',
        'Did you mean model-two?',
      ],
    ],
  },
  {
    what: 'nothing of a database that is closed and sound',
    make: (world) => putDatabase(world, { isClosed: true, isDamaged: false }),
    told: [],
  },
  {
    what: 'nothing of a sound database whose server was killed',
    make: (world) => putDatabase(world, { isClosed: false, isDamaged: false }),
    told: [],
  },
  {
    what: 'a damaged database whose server was killed',
    make: async (world) => {
      await putDatabase(world, { isClosed: false, isDamaged: true });
      // What the WAL has would stand in place of the damaged pages.
      put(join(world.home, 'heddle.db-wal'), '');
    },
    told: [['store', 'error', /^WORLD\/home\/heddle\.db is damaged: /, /store repair/]],
  },
  {
    what: 'a database that is no database',
    make: ({ home }) => put(join(home, 'heddle.db'), 'x'.repeat(5000)),
    told: [
      ['store', 'error', 'WORLD/home/heddle.db is damaged: file is not a database', /store repair/],
    ],
  },
  {
    what: 'a database that is empty',
    make: ({ home }) => put(join(home, 'heddle.db'), ''),
    told: [['store', 'error', 'WORLD/home/heddle.db is damaged: it is empty', /store repair/]],
  },
  {
    what: 'a database that is a folder',
    make: ({ home }) => void mkdirSync(join(home, 'heddle.db')),
    told: [
      [
        'store',
        'error',
        'WORLD/home/heddle.db is not a file',
        'Follow the message, or move the file away.',
      ],
    ],
  },
];

/** Faults of base_url, of which there is one, so that they cannot come together. */
const base = (
  path: string,
  told: Told[],
  what = `a base_url with the path ${path || '/'}`,
): Fault => ({
  what,
  make: (world) => {
    world.basePath = path;
  },
  told,
});
const ending = (path: string, name: string, better: string): Fault =>
  base(path, [
    [
      'provider',
      'error',
      `the base_url of the provider p ends in ${name}, but heddle adds the path of each request itself`,
      `Set base_url = "URL${better}" in [model_providers.p] in config.toml.`,
    ],
  ]);
const unversioned = (path: string): Fault =>
  base(path, [
    [
      'provider',
      'warning',
      'the base_url of the provider p has no version such as /v1, which most providers need',
      `Set base_url = "URL${path.replace(/\/$/, '')}/v1" in [model_providers.p] in config.toml, unless the provider documents another one.`,
    ],
  ]);
const URLS: Fault[] = [
  unversioned(''),
  unversioned('/'),
  unversioned('/api'),
  ending('/v1/responses', '/responses', '/v1'),
  ending('/v1/chat/completions/', '/chat/completions', '/v1'),
  ending('/chat/completions', '/chat/completions', ''),
  base('/v1/', []),
];

async function look(...faults: Fault[]): Promise<{ told: Told[]; isWell: boolean; world: World }> {
  // The project is a repository, so that nothing above it counts.
  const repository = {
    'project/.git/HEAD': 'ref: refs/heads/main\n',
    'project/.git/objects/x': '',
    'project/.git/refs/x': '',
  };
  const folder = tempFolder({
    'home/config.toml': '',
    'user/x': '',
    'system/x': '',
    ...repository,
  });
  const [home, project, userHome, systemDir] = ['home', 'project', 'user', 'system'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string];
  const world: World = {
    home,
    project,
    userHome,
    systemDir,
    top: [],
    tables: [],
    basePath: '/v1',
    homeSource: 'HEDDLE_HOME',
  };
  for (const { make } of faults) await make(world);
  if (!world.top.some((line) => line.startsWith('model ='))) world.top.push('model = "model-one"');
  const url = `http://127.0.0.1:${port}`;
  const provider = `model_provider = "p"\n[model_providers.p]\nbase_url = "${url}${world.basePath}"\n`;
  put(
    join(home, 'config.toml'),
    `${world.top.join('\n')}\n${provider}${world.tables.join('\n')}\n`,
  );
  const before = contents(folder);
  let text = '';
  const isWell = await runDoctor(
    {
      home,
      homeSource: world.homeSource,
      cwd: project,
      env: { PATH: process.env.PATH, HOME: userHome },
      overrides: [],
      systemDir,
      sendSignal: (pid, signal) => process.kill(pid, signal),
      json: true,
      version: '0.0.1',
      platform: process.platform,
      nodeVersions: process.versions,
      installation: { manifest: join(ROOT, 'package.json'), executable: process.execPath },
    },
    {
      print(part) {
        text += part;
      },
      stderr: { write() {} },
    },
  );
  expect(contents(folder)).toEqual(before);
  const shown = text.replaceAll(folder, 'WORLD').replaceAll(url, 'URL');
  const { checks } = JSON.parse(shown) as { checks: DoctorCheck[] };
  expect(checks).toHaveLength(13);
  const told = checks.flatMap(({ name, problems }) =>
    problems.map(({ severity, message, fix }): Told => [name, severity, message, fix ?? '']),
  );
  // What this machine lacks is no fault of these worlds.
  return {
    told: told.filter(([name]) => name !== 'sandbox' && name !== 'search' && name !== 'git'),
    isWell,
    world,
  };
}

/** The files of a folder, with their bytes and times. */
function contents(folder: string): Record<string, unknown> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return Object.fromEntries(
    names.map((name) => {
      const path = join(folder, name);
      const stats = statSync(path, { throwIfNoEntry: false });
      // SQLite writes to the index of a WAL when it reads.
      if (name.endsWith('-shm')) return [name, 'index'];
      return [name, stats?.isFile() ? [readFileSync(path, 'base64'), stats.mtimeMs] : null];
    }),
  );
}

const matching = (told: Told[]) =>
  told.map((row) =>
    row.map((part) => (part instanceof RegExp ? (expect.stringMatching(part) as unknown) : part)),
  );
const byName = (one: Told, other: Told) => (one[0] < other[0] ? -1 : one[0] > other[0] ? 1 : 0);

describe('heddle doctor tells', () => {
  test('of a sound home that nothing is wrong', async () => {
    expect((await look()).told).toEqual([]);
  });

  test.each([...FAULTS, ...APART, ...URLS])('$what', async (fault) => {
    expect((await look(fault)).told).toEqual(matching(fault.told));
  });

  test('all faults at once', async () => {
    const { told, isWell } = await look(...FAULTS);
    const expected = FAULTS.flatMap((fault) => fault.told);
    expect(isWell).toBe(false);
    expect(told).toHaveLength(expected.length);
    expect([...told].sort(byName)).toEqual(expect.arrayContaining(matching(expected)));
  });
});

describe('a home that', () => {
  /** What the doctor says about this home: in a process, because a home can end one. */
  function homeProblems(home: string, ...around: string[]): Told[] {
    const command = [...around, process.execPath, EXECUTABLE, 'doctor', '--json'];
    const env = { PATH: process.env.PATH, HEDDLE_HOME: home, HOME: dirname(home) };
    const { stdout, status } = spawnSync(command[0] ?? '', command.slice(1), {
      cwd: ROOT,
      env,
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    const { checks } = JSON.parse(stdout) as { checks: DoctorCheck[] };
    expect(checks).toHaveLength(13);
    return checks
      .filter(({ name }) => name === 'home')
      .flatMap(({ name, problems }) =>
        problems.map(({ severity, message, fix }): Told => [name, severity, message, fix ?? '']),
      );
  }
  const other = 'or set HEDDLE_HOME to another folder.';

  test('does not exist is not made', () => {
    const folder = tempFolder();
    const env = {
      PATH: process.env.PATH,
      HEDDLE_HOME: join(folder, 'a', 'home'),
      HOME: folder,
      TMPDIR: folder,
    };
    const { stdout } = spawnSync(process.execPath, [EXECUTABLE, 'doctor', '--json'], {
      cwd: ROOT,
      env,
      encoding: 'utf8',
    });
    const { checks } = JSON.parse(stdout) as { checks: DoctorCheck[] };
    expect(checks[0]).toEqual({
      name: 'home',
      summary: `${folder}/a/home (HEDDLE_HOME), which is made when it is needed`,
      facts: { path: `${folder}/a/home`, source: 'HEDDLE_HOME', exists: false },
      problems: [],
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  test('is a file', () => {
    const home = join(tempFolder({ file: 'x' }), 'file');
    expect(homeProblems(home)).toEqual([
      ['home', 'error', `${home} is a file, not a folder`, `Move it away, ${other}`],
    ]);
  });

  test('is below a file', () => {
    const folder = tempFolder({ file: 'x' });
    const told = homeProblems(join(folder, 'file', 'a', 'home'));
    expect(told).toEqual([
      [
        'home',
        'error',
        `${join(folder, 'file')} is a file, not a folder`,
        `Move it away, ${other}`,
      ],
    ]);
  });

  test('is a link to nothing', () => {
    const home = join(tempFolder(), 'link');
    symlinkSync('/no/such/folder', home);
    expect(homeProblems(home)).toEqual([
      ['home', 'error', `${home} is a link that leads to no folder`, `Move it away, ${other}`],
    ]);
  });

  test.runIf(process.platform === 'linux')('is read-only', () => {
    const home = join(tempFolder({ 'home/config.toml': '' }), 'home');
    const told = homeProblems(home, 'bwrap', '--dev-bind', '/', '/', '--ro-bind', home, home);
    expect(told).toEqual([
      ['home', 'error', `${home} cannot be written`, `Make it writable, ${other}`],
    ]);
  });
});

describe('a check that', () => {
  const failed = (why: string) => ({
    name: 'git',
    summary: 'unknown',
    facts: {},
    problems: [
      {
        severity: 'error',
        message: `this could not be checked: ${why}`,
        fix: 'Remove the cause that the message names, and run heddle doctor again.',
      },
    ],
  });

  test('throws is a line', async () => {
    const clock = new FakeClock();
    const thrown = () => {
      throw new Error('boom');
    };
    expect(await runCheck('git', thrown, clock)).toEqual(failed('boom'));
    expect(await runCheck('git', async () => thrown(), clock)).toEqual(failed('boom'));
    expect(clock.timers).toEqual([]);
  });

  test('hangs is a line, in time', async () => {
    const clock = new FakeClock();
    const hung = runCheck('git', () => new Promise<never>(() => {}), clock);
    await clock.timerOf(15_000);
    clock.advance(15_000);
    expect(await hung).toEqual(failed('it has not ended within 15 s'));
  });
});
