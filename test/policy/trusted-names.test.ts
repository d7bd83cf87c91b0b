import { expect, test } from 'vitest';
import { trustsNames } from '../../src/policy/command/trusts-names.ts';

const links = (path: string) => path.replace(/^\/link/, '/ws');
const trusts = (env: Record<string, string>) =>
  trustsNames({ PATH: '/usr/bin', ...env }, ['/link', '/tmp'], links);

test.each([
  {},
  { PATH: '/usr/local/bin:/usr/bin' },
  { HOME: '/home/u', ENV: '/home/u/.shrc' },
  { PATH: '/wsshop/bin' },
])('%j', (env) => {
  expect(trusts(env as Record<string, string>)).toBe(true);
});

test.each<Record<string, string>>([
  { PATH: '/usr/bin:.' },
  { PATH: ':/usr/bin' },
  { PATH: '/usr/bin:' },
  { PATH: 'node_modules/.bin:/usr/bin' },
  { PATH: '/ws/node_modules/.bin:/usr/bin' },
  { PATH: '/link/bin:/usr/bin' },
  { PATH: '/usr/bin:/tmp' },
  { HOME: '/ws' },
  { BASH_ENV: 'env.sh' },
  { BASH_ENV: '/ws/env.sh' },
  { ENV: '/tmp/env.sh' },
  { ZDOTDIR: '/ws/z' },
])('not if the workspace, or a folder that commands can write, is in a path: %j', (env) => {
  expect(trusts(env)).toBe(false);
});
