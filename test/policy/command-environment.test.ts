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

function policy(given: Partial<EnvironmentPolicy>): EnvironmentPolicy {
  return { inherit: 'all', ignoreDefaultExcludes: false, exclude: [], set: {}, includeOnly: [], keyNames: ['PROVIDER'], ...given };
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
    expect(of({ ignoreDefaultExcludes: true })).toEqual([['EDITOR', 'HOME', 'PATH', ...SECRETS].sort(), ['PROVIDER']]);
  });

  test('has a secret that include_only spells out, but none that only a pattern matches', () => {
    expect(of({ includeOnly: ['PATH', 'my_api_key', 'PROVIDER'] })[0]).toEqual(['MY_API_KEY', 'PATH', 'PROVIDER']);
    expect(of({ includeOnly: ['P*', '*KEY'] })[0]).toEqual(['PATH']);
  });

  test('has no excluded variables, in any case, even if include_only names them', () => {
    expect(of({ exclude: ['ed*', 'hom?'], includeOnly: ['EDITOR', 'PATH'] })[0]).toEqual(['PATH']);
    expect(of({ exclude: ['E.ITOR', '[A-Z]*'] })[0]).toEqual(['EDITOR', 'HOME', 'PATH']);
  });

  test('has the variables of set, and does not report them as withheld', () => {
    const { env, withheld } = commandEnvironment(ENV, policy({ inherit: 'none', set: { MY_API_KEY: 'set', NEW: 'n' } }));
    expect([env, withheld]).toEqual([{ MY_API_KEY: 'set', NEW: 'n' }, []]);
    expect(of({ set: { PROVIDER: 'x' } })).toEqual([['EDITOR', 'HOME', 'PATH', 'PROVIDER'], SECRETS]);
  });

  test('inherits everything, the core variables, or nothing', () => {
    expect(of({ inherit: 'core' })[0]).toEqual(['HOME', 'PATH']);
    expect(of({ inherit: 'none' })).toEqual([[], []]);
  });

  test('the variables of every command override inherited ones, and set overrides them', () => {
    const { env } = commandEnvironment({ TERM: 'xterm', PAGER: 'less' }, policy({ set: { PAGER: 'most' } }), {
      TERM: 'dumb',
      PAGER: 'cat',
    });
    expect(env).toEqual({ TERM: 'dumb', PAGER: 'most' });
  });
});
