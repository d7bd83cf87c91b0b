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
  test('is without what looks secret and without the keys of providers', () => {
    expect(of({})).toEqual([
      ['EDITOR', 'HOME', 'PATH'],
      ['AWS_CREDENTIALS', 'CLIENT_SECRET', 'DB_PASSWORD', 'MY_API_KEY', 'PROVIDER', 'github_token'],
    ]);
  });

  test('keeps what looks secret where the user says so, but never the keys of providers', () => {
    expect(of({ ignoreDefaultExcludes: true })).toEqual([['EDITOR', 'HOME', 'PATH', ...SECRETS].sort(), ['PROVIDER']]);
  });

  test('has a secret that include_only spells out, and none that a pattern lets through', () => {
    expect(of({ includeOnly: ['PATH', 'my_api_key', 'PROVIDER'] })[0]).toEqual(['MY_API_KEY', 'PATH', 'PROVIDER']);
    expect(of({ includeOnly: ['P*', '*KEY'] })[0]).toEqual(['PATH']);
  });

  test('is without what is excluded, whatever the case, even what include_only names', () => {
    expect(of({ exclude: ['ed*', 'hom?'], includeOnly: ['EDITOR', 'PATH'] })[0]).toEqual(['PATH']);
    expect(of({ exclude: ['E.ITOR', '[A-Z]*'] })[0]).toEqual(['EDITOR', 'HOME', 'PATH']);
  });

  test('has what is set, and then nothing of that name was withheld', () => {
    const { env, withheld } = commandEnvironment(ENV, policy({ inherit: 'none', set: { MY_API_KEY: 'set', NEW: 'n' } }));
    expect([env, withheld]).toEqual([{ MY_API_KEY: 'set', NEW: 'n' }, []]);
    expect(of({ set: { PROVIDER: 'x' } })).toEqual([['EDITOR', 'HOME', 'PATH', 'PROVIDER'], SECRETS]);
  });

  test('inherits everything, what programs commonly need, or nothing', () => {
    expect(of({ inherit: 'core' })[0]).toEqual(['HOME', 'PATH']);
    expect(of({ inherit: 'none' })).toEqual([[], []]);
  });

  test('what every command is given stands over what is inherited, and under what is set', () => {
    const { env } = commandEnvironment({ TERM: 'xterm', PAGER: 'less' }, policy({ set: { PAGER: 'most' } }), {
      TERM: 'dumb',
      PAGER: 'cat',
    });
    expect(env).toEqual({ TERM: 'dumb', PAGER: 'most' });
  });
});
