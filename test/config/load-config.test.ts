import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { configErrorOf, load, sourcesIn } from './load.ts';
import { tempFolder } from './temp-folder.ts';

describe('an unreadable config.toml is refused with file and location', () => {
  const syntax: [string, string, string][] = [
    ['an unfinished list', 'model = [broken', ':1:10: not valid TOML: invalid value'],
    [
      'a key set twice',
      'a = 1\na = 2\n',
      ':2:1: not valid TOML: trying to redefine an already defined table or value',
    ],
    ['an unfinished text', '\n\nmodel = "x', ':3:9: not valid TOML: unfinished string'],
    [
      'a table over a value',
      'a = 1\n[a.b]\n',
      ':2:2: not valid TOML: trying to redefine an already defined table or value',
    ],
  ];
  test.each(syntax)('%s', async (_, text, problem) => {
    const home = tempFolder({ 'config.toml': text });
    const error = await configErrorOf(() => loadConfig(sourcesIn(home)));
    expect(error.message).toBe(`invalid config: ${join(home, 'config.toml')}${problem}`);
    expect(error.code).toBe('config_invalid');
  });

  const unusable: [string, (file: string) => void, RegExp][] = [
    [
      'a folder',
      (file) => mkdirSync(file),
      /config\.toml: the file cannot be read: .*not a regular file/,
    ],
    [
      'a pipe that nobody writes to',
      (file) => execFileSync('mkfifo', [file]),
      /config\.toml: the file cannot be read: .*not a regular file/,
    ],
    [
      'bytes that are not UTF-8',
      (file) => writeFileSync(file, Buffer.from([0x61, 0xff, 0x0a])),
      /config\.toml: the file is not UTF-8 text/,
    ],
    [
      'more than 256 KiB',
      (file) => writeFileSync(file, '#'.repeat(256 * 1024 + 1)),
      /config\.toml: the file is larger than 262144 bytes/,
    ],
    [
      'lists in lists without end',
      (file) => writeFileSync(file, `a = ${'['.repeat(500)}`),
      /config\.toml:1:\d+: not valid TOML/,
    ],
    [
      'tables in tables without end',
      (file) => writeFileSync(file, `[${'a.'.repeat(500)}b]`),
      /config\.toml: nested deeper than 64 levels/,
    ],
  ];
  test.each(unusable)('%s', async (_, make, message) => {
    const home = tempFolder();
    make(join(home, 'config.toml'));
    expect((await configErrorOf(() => loadConfig(sourcesIn(home)))).message).toMatch(message);
  });

  test('the message does not show the lines around, which may contain keys', async () => {
    const error = await configErrorOf(() => load('key = "sk-secret"\nmodel = [broken'));
    expect(error.message).not.toContain('sk-secret');
  });
});

test('a missing config.toml, and a missing home, set nothing', async () => {
  const home = tempFolder();
  expect((await loadConfig(sourcesIn(home))).values).toEqual({});
  expect((await loadConfig(sourcesIn(join(home, 'nowhere')))).values).toEqual({});
});

test('config.toml is read again each time', async () => {
  const home = tempFolder({ 'config.toml': 'model = "a1"' });
  expect((await loadConfig(sourcesIn(home))).get('model')).toBe('a1');
  writeFileSync(join(home, 'config.toml'), 'model = "b2"');
  expect((await loadConfig(sourcesIn(home))).get('model')).toBe('b2');
  rmSync(join(home, 'config.toml'));
  expect((await loadConfig(sourcesIn(home))).get('model')).toBe(null);
});

test('values that JSON cannot represent are converted to the nearest JSON value', async () => {
  const { values } = await load(
    'big = 9223372036854775807\nday = 1979-05-27\nbad = nan\nfar = -inf\nhex = 0xff\n',
  );
  expect(values).toEqual({
    big: 2 ** 63,
    day: '1979-05-27',
    bad: 'NaN',
    far: '-Infinity',
    hex: 255,
  });
});

describe('-c overrides', () => {
  const refused: [string, RegExp][] = [
    ['model', /-c model: expected key=value/],
    ['', /-c : expected key=value/],
    ['=x', /-c =…: "" is not a key/],
    [
      'a..api_key=sk-secret',
      /^invalid config: -c a\.\.api_key=…: "a\.\.api_key" is not a key: expected names separated by dots$/,
    ],
    ['a..b=1', /"a\.\.b" is not a key/],
    ['.a=1', /"\.a" is not a key/],
    ['a.=1', /"a\." is not a key/],
    ['a b=1', /"a b" is not a key/],
    ['a."b=1', /"a\.\\"b" is not a key/],
    [`${'a.'.repeat(10_000)}b=1`, /is not a key/],
  ];
  test.each(refused)('%j is refused', async (override, message) => {
    expect((await configErrorOf(() => load('', { overrides: [override] }))).message).toMatch(
      message,
    );
  });

  const accepted: [string, unknown][] = [
    ['model=plain-name', { model: 'plain-name' }],
    ['model="quoted"', { model: 'quoted' }],
    ['model = spaced ', { model: 'spaced' }],
    ['model=', { model: '' }],
    ['model=a=b', { model: 'a=b' }],
    ['a.b.c=true', { a: { b: { c: true } } }],
    ['n=5', { n: 5 }],
    ['list=["a", 1]', { list: ['a', 1] }],
    ['table={x = 1}', { table: { x: 1 } }],
    [
      'projects."/a.b/c".trust_level=trusted',
      { projects: { '/a.b/c': { trust_level: 'trusted' } } },
    ],
    ["a.'b.c'=1", { a: { 'b.c': 1 } }],
    ['x=1\ny = 2', { x: '1\ny = 2' }],
    ['x=1\n[t]', { x: '1\n[t]' }],
  ];
  test.each(accepted)('%j', async (override, values) => {
    expect((await load('', { overrides: [override] })).values).toEqual(values);
  });

  test('later overrides win, and tables are merged', async () => {
    const { values } = await load('t.a = 1\n', { overrides: ['t.b=2', 't.c=3', 't.b=4'] });
    expect(values).toEqual({ t: { a: 1, b: 4, c: 3 } });
  });
});

describe("a request's config", () => {
  test('takes dotted and nested keys', async () => {
    const request = {
      model: 'x',
      'sandbox_workspace_write.network_access': true,
      sandbox_workspace_write: { exclude_slash_tmp: true },
    };
    expect((await load('', { request })).values).toEqual({
      model: 'x',
      sandbox_workspace_write: { network_access: true, exclude_slash_tmp: true },
    });
  });

  test('null counts as absent', async () => {
    expect(
      (await load('model = "file"\n', { request: { model: null, t: { x: null, y: 1 } } })).values,
    ).toEqual({
      model: 'file',
      t: { y: 1 },
    });
  });

  test('is refused if it is nested too deeply', async () => {
    const request = JSON.parse(`{"a":${'{"b":'.repeat(5000)}1${'}'.repeat(5000)}}`);
    expect((await configErrorOf(() => load('', { request }))).message).toMatch(
      /nested deeper than 64 levels/,
    );
  });

  test('is refused if a key is malformed', async () => {
    const error = await configErrorOf(() => load('', { request: { 'a..b': 1 } }));
    expect(error.message).toBe(
      'invalid config: the request\'s config: "a..b" is not a key: expected names separated by dots',
    );
  });
});

describe('keys such as __proto__ are ordinary data', () => {
  const sources: [string, Parameters<typeof load>][] = [
    ['in config.toml', ['[__proto__]\npolluted = 1\n[constructor.prototype]\npolluted = 1\n']],
    ['with -c', ['', { overrides: ['__proto__.polluted=1', 'constructor.prototype.polluted=1'] }]],
    [
      'in a request',
      [
        '',
        {
          request: JSON.parse(
            '{"__proto__": {"polluted": 1}, "constructor.prototype.polluted": 1}',
          ),
        },
      ],
    ],
  ];
  test.each(sources)('%s', async (_, args) => {
    const config = await load(...args);
    expect(
      Object.entries(config.values).map(([key, value]) => [key, JSON.stringify(value)]),
    ).toEqual([
      ['__proto__', '{"polluted":1}'],
      ['constructor', '{"prototype":{"polluted":1}}'],
    ]);
    expect(config.get('model')).toBe(null);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  test.each(['toString', '__proto__', 'constructor'])(
    'a profile called %s is not there until it is defined',
    async (profile) => {
      const error = await configErrorOf(() => load(`profile = "${profile}"\n[profiles]\n`));
      expect(error.message).toMatch(`profile: there is no table [profiles.${profile}]`);
    },
  );
});

describe('layers', () => {
  const text =
    'model = "base"\nprofile = "p"\n[profiles.p]\nmodel = "profile"\n[profiles.q]\nmodel = "other"\n';

  test.each([
    ['the profile wins over the base', {}, 'profile'],
    ['-c wins over the profile', { overrides: ['model=flag'] }, 'flag'],
    [
      'the request wins over -c',
      { overrides: ['model=flag'], request: { model: 'request' } },
      'request',
    ],
    ['-c chooses the profile', { overrides: ['profile=q'] }, 'other'],
    [
      'the request chooses the profile',
      { overrides: ['profile=p'], request: { profile: 'q' } },
      'other',
    ],
    ['-c defines a profile', { overrides: ['profile=r', 'profiles.r.model=flagged'] }, 'flagged'],
  ])('%s', async (_, sources, model) => {
    expect((await load(text, sources)).get('model')).toBe(model);
  });

  test.each([
    ['profile = "nope"\n', /config\.toml:1:1: profile: there is no table \[profiles\.nope\]/],
    ['profile = 5\n', /config\.toml:1:1: profile: expected a non-empty string, found 5/],
    [
      'profile = "p"\nprofiles = 5\n',
      /config\.toml:1:1: profile: there is no table \[profiles\.p\]/,
    ],
    ['profile = "p"\n[profiles]\np = 5\n', /config\.toml:3:1: profiles\.p: expected a table/],
  ])('an invalid profile is refused: %j', async (broken, message) => {
    expect((await configErrorOf(() => load(broken))).message).toMatch(message);
  });
});
