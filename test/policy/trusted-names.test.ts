import { expect, test } from 'vitest';
import { trustsNames } from '../../src/policy/trusted-names.ts';

const links = (path: string) => path.replace(/^\/link/, '/work');
const trusts = (env: Record<string, string>) => trustsNames({ PATH: '/usr/bin', ...env }, ['/link', '/tmp'], links);

test.each([{}, { PATH: '/usr/local/bin:/usr/bin' }, { HOME: '/home/u', ENV: '/home/u/.shrc' }, { PATH: '/workshop/bin' }])('%j', (env) => {
  expect(trusts(env as Record<string, string>)).toBe(true);
});

test.each<Record<string, string>>([
  { PATH: '/usr/bin:.' },
  { PATH: ':/usr/bin' },
  { PATH: '/usr/bin:' },
  { PATH: 'node_modules/.bin:/usr/bin' },
  { PATH: '/work/node_modules/.bin:/usr/bin' },
  { PATH: '/link/bin:/usr/bin' },
  { PATH: '/usr/bin:/tmp' },
  { HOME: '/work' },
  { BASH_ENV: 'env.sh' },
  { BASH_ENV: '/work/env.sh' },
  { ENV: '/tmp/env.sh' },
  { ZDOTDIR: '/work/z' },
])('not where the workspace, or a place that commands write, has a say: %j', (env) => {
  expect(trusts(env)).toBe(false);
});
