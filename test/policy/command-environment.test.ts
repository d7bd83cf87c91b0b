import { describe, expect, test } from 'vitest';
import type { EnvironmentPolicy } from '../../src/config/environment-policy.ts';
import { commandEnvironment } from '../../src/policy/command/command-environment.ts';

const ENV = {
  PATH: '/bin',
  HOME: '/home/me',
  EDITOR: 'ed',
  MY_API_KEY: '1',
  github_token: '2',
  DB_PASSWORD: '3',
  CLIENT_SECRET: '4',
  AWS_CREDENTIALS: '5',
  PROVIDER: 'p',
  UNSET: undefined,
};
const SECRETS = ['AWS_CREDENTIALS', 'CLIENT_SECRET', 'DB_PASSWORD', 'MY_API_KEY', 'github_token'];

const KEPT: Record<string, string> = {
  PATH: '/usr/local/bin:/usr/bin:/home/user:pass@host/bin',
  HOME: '/home/me',
  PWD: '/home/me/work',
  OLDPWD: '/home/me/sk-0123456789abcdefghij',
  LANG: 'C.UTF-8',
  LC_ALL: 'C',
  TERM: 'xterm-256color',
  COLORTERM: 'truecolor',
  SHELL: '/bin/bash',
  USER: 'me',
  EDITOR: 'vi',
  CI: 'true',
  TZ: 'Europe/Berlin',
  DISPLAY: ':0',
  ENV: '/etc/profile',
  NODE_ENV: 'production',
  NODE_OPTIONS: '--max-old-space-size=4096 --require ./x.js',
  NODE_PATH: '/usr/lib/node_modules',
  NODE_EXTRA_CA_CERTS: '/etc/ca.pem',
  npm_config_registry: 'https://registry.example:4873/@scope/x',
  npm_config_user_agent: 'npm/11.0.0 node/v20.19.0 linux x64 workspaces/false',
  npm_package_dependencies_a: 'npm:react@18.2.0',
  npm_lifecycle_event: 'test',
  JAVA_HOME: '/usr/lib/jvm/java-21',
  JAVA_TOOL_OPTIONS: '-Dfile.encoding=UTF-8 -Xmx1g',
  GOPATH: '/home/me/go',
  GOPROXY: 'https://proxy.golang.example,direct',
  CARGO_HOME: '/home/me/.cargo',
  RUSTFLAGS: '-C target-cpu=native',
  CFLAGS: '-O2 -g -Wall',
  LD_LIBRARY_PATH: '/opt/lib',
  PKG_CONFIG_PATH: '/opt/lib/pkgconfig',
  COMPASS: 'north',
  COMPASS_URL: 'http://localhost:8080',
  BYPASS_CACHE: '1',
  PASSENGER_APP_ENV: 'production',
  SSH_AUTH_SOCK: '/tmp/agent.1',
  SSH_ASKPASS: '/usr/lib/ssh/ssh-askpass',
  GIT_ASKPASS: '/usr/bin/askpass',
  VSCODE_GIT_ASKPASS_MAIN: '/opt/code/askpass-main.js',
  SSH_CONNECTION: '10.0.0.1 50000 10.0.0.2 22',
  GIT_AUTHOR_NAME: 'Me',
  GIT_AUTHOR_EMAIL: 'me@example.org',
  GIT_SSH_COMMAND: 'ssh -o BatchMode=yes',
  AUTH_MODE: 'none',
  AUTH_URL: 'https://login.example/authorize',
  PATTERN: 'a',
  SPATIAL: '1',
  AUTHOR: 'me',
  PS1: '\\u@\\h:\\w\\$ ',
  LS_COLORS: 'rs=0:di=01;34:ln=01;36:mh=00:pi=40;33:so=01;35',
  XDG_RUNTIME_DIR: '/run/user/1000',
  DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/user/1000/bus',
  XAUTHORITY: '/home/me/.Xauthority',
  DOCKER_HOST: 'ssh://me@docker.example',
  IMAGE: 'node:20@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
  HTTP_PROXY: 'http://proxy.example:3128',
  NO_PROXY: 'localhost,127.0.0.1',
  DATABASE_URL: 'postgres://localhost:5432/app?sslmode=require',
  REPOSITORY: 'git@host.example:owner/name.git',
  REPO_URL: 'https://me@git.example/owner/name',
  REDIS_URL: 'redis://localhost:6379/0',
  GITHUB_SHA: '0123456789abcdef0123456789abcdef01234567',
  BUILD_ID: '6f1d2c3b-1111-2222-3333-444455556666',
};

const WITHHELD: Record<string, string> = {
  ...Object.fromEntries(
    [
      ...[
        'MYSQL_PWD',
        'DBPWD',
        'GITHUB_PAT',
        'SMTP_PASS',
        'SMTP_PASS_2',
        'DB_PASS2',
        'DBPASS',
        'SSHPASS',
        'PGPASSWORD',
        'REDIS_PASSWD',
      ],
      ...[
        'GPG_PASSPHRASE',
        'Passphrase',
        'PROXY_AUTH',
        'DOCKER_AUTH_CONFIG',
        'npm_config__auth',
        'NPM_CONFIG__AUTHTOKEN',
        'SESSION_COOKIE',
      ],
      ...[
        'SENTRY_DSN',
        'DB_CONNECTION_STRING',
        'AZURE_CONN_STR',
        'SQLCONNSTR',
        'ConnectionStrings__Default',
        'WIFI_PSK',
        'DB_CREDS',
      ],
      ...[
        'SERVICE_JWT',
        'HTTP_AUTHORIZATION',
        'OTEL_EXPORTER_OTLP_HEADERS',
        'API_BEARER',
        'APIKEY',
        'MY_KEYS',
        'githubToken',
        'OAUTH_TOKENS',
      ],
    ].map((name) => [name, 'x']),
  ),
  DATABASE_URL: 'postgres://me:hunter2@db.example:5432/app',
  MONGO: 'mongodb+srv://me:p@ss:w0rd/x@cluster.example/?retryWrites=true',
  HTTPS_PROXY: 'http://user:pass@proxy.example:3128',
  https_proxy: 'user:pass@proxy.example:3128',
  MYSQL: 'me:hunter2@tcp(127.0.0.1:3306)/app',
  LIBPQ: 'host=localhost user=me password=hunter2',
  ADO: 'Server=db;User Id=sa;Pwd=hunter2;',
  STORAGE: 'DefaultEndpointsProtocol=https;AccountName=a;AccountKey=aGVsbG8=;',
  CLONE_URL: 'https://abcdef0123456789abcd@git.example/owner/name',
  CALLBACK: 'https://host.example/hook?access_token=abc',
  GIT_CONFIG_PARAMETERS: "'http.extraheader=Authorization: Basic dXNlcjpwYXNz'",
  CONFIG_JSON: '{"auths":{"host":{"auth":"dXNlcjpwYXNz"}}}',
  PEM: '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz\n-----END OPENSSH PRIVATE KEY-----',
  A: 'sk-proj-0123456789abcdefghij',
  B: 'ghp_0123456789abcdef0123456789abcdef0123',
  C: 'github_pat_0123456789abcdef0123',
  D: 'xoxb-0123456789-abcdef',
  E: 'AKIAIOSFODNN7EXAMPLE',
  F: 'glpat-0123456789abcdefghij',
  G: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln',
};

function policy(given: Partial<EnvironmentPolicy>): EnvironmentPolicy {
  return {
    inherit: 'all',
    ignoreDefaultExcludes: false,
    exclude: [],
    set: {},
    includeOnly: [],
    keyNames: ['PROVIDER'],
    keys: [],
    ...given,
  };
}

function of(given: Partial<EnvironmentPolicy>) {
  const { env, withheld } = commandEnvironment(ENV, policy(given));
  return [Object.keys(env).sort(), withheld];
}

describe('the environment of commands', () => {
  test('has no variables that look secret, and no keys of providers', () => {
    expect(of({})).toEqual([
      ['EDITOR', 'HOME', 'PATH'],
      ['AWS_CREDENTIALS', 'CLIENT_SECRET', 'DB_PASSWORD', 'MY_API_KEY', 'PROVIDER', 'github_token'],
    ]);
  });

  test('keeps variables that look secret if the user sets that, but never the keys of providers', () => {
    expect(of({ ignoreDefaultExcludes: true })).toEqual([
      ['EDITOR', 'HOME', 'PATH', ...SECRETS].sort(),
      ['PROVIDER'],
    ]);
  });

  test('has a secret that include_only spells out, but none that only a pattern matches', () => {
    expect(of({ includeOnly: ['PATH', 'my_api_key', 'PROVIDER'] })[0]).toEqual([
      'MY_API_KEY',
      'PATH',
      'PROVIDER',
    ]);
    expect(of({ includeOnly: ['P*', '*KEY'] })[0]).toEqual(['PATH']);
  });

  test.each(Object.entries(KEPT))('has the ordinary variable %s = %j', (name, value) => {
    expect(commandEnvironment({ [name]: value }, policy({}))).toEqual({
      env: { [name]: value },
      withheld: [],
    });
  });

  test.each(Object.entries(WITHHELD))(
    'does not have %s = %j, unless the user sets that',
    (name, value) => {
      expect(commandEnvironment({ [name]: value }, policy({}))).toEqual({
        env: {},
        withheld: [name],
      });
      expect(
        commandEnvironment({ [name]: value }, policy({ ignoreDefaultExcludes: true })).env,
      ).toEqual({ [name]: value });
      expect(commandEnvironment({ [name]: value }, policy({ includeOnly: [name] })).env).toEqual({
        [name]: value,
      });
      expect(
        commandEnvironment({ [name]: value }, policy({ includeOnly: [`${name}*`] })).env,
      ).toEqual({});
    },
  );

  test('has no variable that contains the key of a provider, whatever its name is', () => {
    const env = {
      HOME: '/home/plainvalue',
      OTHER: 'plainvalue',
      HEADER: 'Bearer plainvalue',
      PLAIN: 'value',
    };
    const keys = ['plainvalue'];
    for (const ignoreDefaultExcludes of [false, true]) {
      const given = commandEnvironment(env, policy({ keys, ignoreDefaultExcludes }));
      expect(given).toEqual({
        env: { HOME: '/home/plainvalue', PLAIN: 'value' },
        withheld: ['HEADER', 'OTHER'],
      });
    }
    expect(commandEnvironment(env, policy({ keys, includeOnly: ['OTHER'] })).env).toEqual({
      OTHER: 'plainvalue',
    });
  });

  test.each([':', 'a:', '://', 'a://b:c', 'a://b', 'b=c', '-a b', '"a":', 'eyJaaaa.'])(
    'a long value of %j is examined in time',
    (part) => {
      const { env, withheld } = commandEnvironment(
        { X: part.repeat(100_000 / part.length) },
        policy({}),
      );
      expect([...Object.keys(env), ...withheld]).toEqual(['X']);
    },
  );

  test('has no excluded variables, in any case, even if include_only names them', () => {
    expect(of({ exclude: ['ed*', 'hom?'], includeOnly: ['EDITOR', 'PATH'] })[0]).toEqual(['PATH']);
    expect(of({ exclude: ['E.ITOR', '[A-Z]*'] })[0]).toEqual(['EDITOR', 'HOME', 'PATH']);
  });

  test('has the variables of set, and does not report them as withheld', () => {
    const { env, withheld } = commandEnvironment(
      ENV,
      policy({ inherit: 'none', set: { MY_API_KEY: 'set', NEW: 'n' } }),
    );
    expect([env, withheld]).toEqual([{ MY_API_KEY: 'set', NEW: 'n' }, []]);
    expect(of({ set: { PROVIDER: 'x' } })).toEqual([
      ['EDITOR', 'HOME', 'PATH', 'PROVIDER'],
      SECRETS,
    ]);
  });

  test('inherits everything, the core variables, or nothing', () => {
    expect(of({ inherit: 'core' })[0]).toEqual(['HOME', 'PATH']);
    expect(of({ inherit: 'none' })).toEqual([[], []]);
  });

  test('the variables of every command override inherited ones, and set overrides them', () => {
    const { env } = commandEnvironment(
      { TERM: 'xterm', PAGER: 'less' },
      policy({ set: { PAGER: 'most' } }),
      {
        TERM: 'dumb',
        PAGER: 'cat',
      },
    );
    expect(env).toEqual({ TERM: 'dumb', PAGER: 'most' });
  });
});
