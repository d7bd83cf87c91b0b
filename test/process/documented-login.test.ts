import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { section } from '../docs/pages.ts';
import { browse } from '../mcp/logging-in.ts';
import { startOauthServer } from '../mcp/oauth-server.ts';
import { startLogin } from './start-login.ts';
import { EXECUTABLE, environment, type Place, place, startHeddle } from './support.ts';

const page = section('docs/mcp/logins.md', 'A login, step by step');
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^ *\`\`\`${language}\\n(.*?)^ *\`\`\``, 'gms'))].map(
    ([, text = '']) => text.replaceAll(/^ {3}/gm, ''),
  );
const [config = ''] = blocks('toml');
const [list = '', login = ''] = blocks('console');
const outputOf = (session: string) => session.replace(/^\$ .*\n/, '');

/** A home with the configuration of the page, whose server is one that wants a login. */
async function home(): Promise<Place> {
  const { url } = await startOauthServer();
  return place({ 'config.toml': config.replace('https://issues.example.com/mcp', url) });
}

async function listed(where: Place): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [EXECUTABLE, 'mcp', 'list'], {
    cwd: where.work,
    env: environment(where),
  });
  return stdout;
}

test('the steps of a login in docs/mcp/logins.md print what is on the page', async () => {
  const where = await home();
  expect(await listed(where)).toBe(outputOf(list));
  const started = startLogin(where, 'issues');
  await browse(await started.address);
  const { code, shown } = await started.ended;
  expect(code).toBe(0);
  const withPlace = (text: string) => text.replace(/https?:\S+/, 'ADDRESS');
  expect(withPlace(shown)).toBe(withPlace(outputOf(login)));
  expect(await listed(where)).toMatch(/^issues +ready +oAuth +1\n$/m);
});

test('the messages of a login in docs/mcp/logins.md are those of the wire', async () => {
  const heddle = await startHeddle(await home());
  const { authorizationUrl, loginId } = await heddle.request('mcpServer/oauth/login', {
    name: 'issues',
  });
  await browse(authorizationUrl);
  const completed = await heddle.waitFor('mcpServer/oauthLogin/completed');
  const [, answers = ''] = /^→ .*\n((?:← .*\n)+)/m.exec(page) ?? [];
  const sent = [
    { id: 5, result: { authorizationUrl, loginId } },
    { method: 'mcpServer/oauthLogin/completed', params: completed },
  ];
  const documented = answers
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line.replace('← ', '').replace(/,…\}$/, '}')) as object);
  const masked = (value: unknown) =>
    JSON.parse(
      JSON.stringify(value, (key, each) =>
        key === 'authorizationUrl' || key === 'loginId' ? '…' : each,
      ),
    ) as unknown;
  expect(masked(documented)).toEqual(masked(sent));
});
