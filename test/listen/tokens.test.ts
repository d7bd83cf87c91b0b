import { createHmac } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AdmissionRules } from '../../src/listen/admission-rules.ts';
import { type BearerOptions, readBearerRules } from '../../src/listen/read-bearer-rules.ts';
import { tempFolder } from '../config/temp-folder.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { OPEN, openListener, PORT } from './listening-server.ts';
import { RawConnection, UPGRADE } from './raw-connection.ts';

const HOST = 'Host: 127.0.0.1';
const ACCEPTED = { status: 101, text: '' };
const refused = (text: string) => ({ status: 401, text });
const MISSING = refused('missing websocket bearer token');
const MALFORMED = refused('invalid authorization header');
const WRONG = refused('invalid websocket bearer token');
const INVALID = refused('invalid websocket jwt');

const TOKEN = 'a-token-of-43-characters-0123456789-abcdefg';
/** Of the token. */
const SHA256 = '704d908bca8a1c54b61da673724bac38ad49142f812c9c9864f0b6ece15b7d3f';

function bearing(options: BearerOptions): AdmissionRules {
  return { ...OPEN, bearer: () => readBearerRules(options) };
}

/** Connects with the value of an Authorization header; null: with none. */
function connect(address: string, authorization: string | null) {
  const header = authorization === null ? [] : [`Authorization: ${authorization}`];
  return new RawConnection(address).request([HOST, ...header, ...UPGRADE]);
}

const HEADERS: [string | null, { status: number; text: string }][] = [
  [`Bearer ${TOKEN}`, ACCEPTED],
  [`bearer   ${TOKEN}  `, ACCEPTED],
  [null, MISSING],
  ['', MALFORMED],
  ['Bearer', MALFORMED],
  ['Bearer ', MALFORMED],
  [TOKEN, MALFORMED],
  [`Bearer${TOKEN}`, MALFORMED],
  [`Basic ${TOKEN}`, MALFORMED],
  [`Bearer ${TOKEN} ${TOKEN}`, MALFORMED],
  [`Bearer ${TOKEN}x`, WRONG],
  [`Bearer ${TOKEN.slice(1)}`, WRONG],
  [`Bearer ${TOKEN.toUpperCase()}`, WRONG],
];

test.each<[string, () => BearerOptions]>([
  [
    'the token of a file, whose spaces at the ends do not count',
    () => ({
      mode: 'capability-token',
      token: { file: join(tempFolder({ token: ` ${TOKEN}\n` }), 'token') },
    }),
  ],
  [
    'the SHA-256 of a token',
    () => ({ mode: 'capability-token', token: { sha256: SHA256.toUpperCase() } }),
  ],
])('%s: who has the token may connect', async (_, options) => {
  const { address } = await openListener(PORT, { admission: bearing(options()) });
  const answers = HEADERS.map(([header]) => connect(address, header));
  expect(await Promise.all(answers)).toEqual(HEADERS.map(([, answer]) => answer));
});

test('a token is not taken from the URL', async () => {
  const admission = bearing({ mode: 'capability-token', token: { sha256: SHA256 } });
  const { address, refused: texts } = await openListener(PORT, { admission });
  const others = [`Cookie: ${TOKEN}`, `X-Token: Bearer ${TOKEN}`];
  const raw = new RawConnection(address);
  const path = `/?token=${TOKEN}`;
  expect(await raw.request([HOST, ...others, ...UPGRADE], { path })).toEqual(MISSING);
  expect(texts()).toEqual([MISSING.text]);
});

test('a token is replaced while the server listens; without its file nobody may connect', async () => {
  const file = join(tempFolder({ token: TOKEN }), 'token');
  const admission = bearing({ mode: 'capability-token', token: { file } });
  const { address } = await openListener(PORT, { admission });
  expect(await connect(address, `Bearer ${TOKEN}`)).toEqual(ACCEPTED);
  writeFileSync(file, 'another');
  expect(await connect(address, `Bearer ${TOKEN}`)).toEqual(WRONG);
  expect(await connect(address, 'Bearer another')).toEqual(ACCEPTED);
  writeFileSync(file, '\n');
  expect((await connect(address, 'Bearer another')).status).toBe(503);
  rmSync(file);
  expect((await connect(address, 'Bearer another')).status).toBe(503);
});

const SECRET = 'a secret of at least 32 bytes, with spaces';
const NOW = new FakeClock().now() / 1000;
const GOOD = { exp: NOW + 60 };
const base64 = (value: object | string) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** A JSON Web Token. `hash`: of its signature; null: it has none. */
function tokenOf(
  claims: object | string,
  {
    header = { alg: 'HS256', typ: 'JWT' },
    secret = SECRET,
    hash = 'sha256',
  }: { header?: object; secret?: string; hash?: string | null } = {},
): string {
  const signed = `${base64(header)}.${base64(claims)}`;
  const signature =
    hash === null ? '' : createHmac(hash, secret).update(signed).digest('base64url');
  return `${signed}.${signature}`;
}

const EXPIRED = refused('expired websocket jwt');
const EARLY = refused('websocket jwt is not valid yet');
const ISSUER = refused('websocket jwt issuer mismatch');
const AUDIENCE = refused('websocket jwt audience mismatch');

const SIGNED: [string, string, { status: number; text: string }][] = [
  ['a good one', tokenOf(GOOD), ACCEPTED],
  ['no signature', tokenOf(GOOD, { header: { alg: 'none' }, hash: null }), INVALID],
  ['NoNe as its algorithm', tokenOf(GOOD, { header: { alg: 'NoNe' }, hash: null }), INVALID],
  ['none as its algorithm, and a signature', tokenOf(GOOD, { header: { alg: 'none' } }), INVALID],
  ['an empty signature', tokenOf(GOOD, { hash: null }), INVALID],
  ['HS384', tokenOf(GOOD, { header: { alg: 'HS384' }, hash: 'sha384' }), INVALID],
  ['HS512', tokenOf(GOOD, { header: { alg: 'HS512' }, hash: 'sha512' }), INVALID],
  ['RS256', tokenOf(GOOD, { header: { alg: 'RS256' } }), INVALID],
  ['no algorithm', tokenOf(GOOD, { header: {} }), INVALID],
  ['a critical extension', tokenOf(GOOD, { header: { alg: 'HS256', crit: ['x'], x: 1 } }), INVALID],
  ['another secret', tokenOf(GOOD, { secret: `${SECRET}.` }), INVALID],
  ['an empty secret', tokenOf(GOOD, { secret: '' }), INVALID],
  [
    'other claims than it was signed with',
    tokenOf(GOOD).replace(/\.[^.]*\./, `.${base64({ exp: NOW + 99 })}.`),
    INVALID,
  ],
  ['no expiry', tokenOf({}), INVALID],
  ['a text as its expiry', tokenOf({ exp: `${NOW + 60}` }), INVALID],
  ['claims that are no object', tokenOf('[]'), INVALID],
  ['claims that are no JSON', tokenOf('{'), INVALID],
  ['what is no token', 'garbage', INVALID],
  ['five parts', `${tokenOf(GOOD)}.a.b`, INVALID],
  ['an expiry long ago', tokenOf({ exp: NOW - 3600 }), EXPIRED],
  ['an expiry within the skew', tokenOf({ exp: NOW - 29 }), ACCEPTED],
  ['an expiry at the skew', tokenOf({ exp: NOW - 30 }), EXPIRED],
  ['a beginning to come', tokenOf({ ...GOOD, nbf: NOW + 31 }), EARLY],
  ['a beginning within the skew', tokenOf({ ...GOOD, nbf: NOW + 30 }), ACCEPTED],
];

const OF_CLAIMS: typeof SIGNED = [
  ['both as they must be', tokenOf({ ...GOOD, iss: 'i', aud: 'a' }), ACCEPTED],
  ['the audience in a list', tokenOf({ ...GOOD, iss: 'i', aud: ['b', 'a'] }), ACCEPTED],
  ['no issuer', tokenOf({ ...GOOD, aud: 'a' }), ISSUER],
  ['another issuer', tokenOf({ ...GOOD, iss: 'I', aud: 'a' }), ISSUER],
  ['a list of issuers', tokenOf({ ...GOOD, iss: ['i'], aud: 'a' }), ISSUER],
  ['no audience', tokenOf({ ...GOOD, iss: 'i' }), AUDIENCE],
  ['another audience', tokenOf({ ...GOOD, iss: 'i', aud: 'aa' }), AUDIENCE],
  ['another list', tokenOf({ ...GOOD, iss: 'i', aud: ['b', 'aa'] }), AUDIENCE],
  ['an empty list', tokenOf({ ...GOOD, iss: 'i', aud: [] }), AUDIENCE],
  ['both, and an expiry long ago', tokenOf({ exp: 1, iss: 'i', aud: 'a' }), EXPIRED],
];

async function answersTo(cases: typeof SIGNED, claims: { issuer?: string; audience?: string }) {
  const admission = bearing({
    mode: 'signed-bearer-token',
    secretFile: join(tempFolder({ secret: `\n${SECRET} \n` }), 'secret'),
    issuer: claims.issuer ?? null,
    audience: claims.audience ?? null,
    clockSkewSeconds: 30,
  });
  const { address } = await openListener(PORT, { admission, clock: new FakeClock() });
  const answers = cases.map(async ([name, token]) => [
    name,
    await connect(address, `Bearer ${token}`),
  ]);
  return { address, answers: await Promise.all(answers) };
}

test('a signed token is valid with its signature, for its time', async () => {
  const { address, answers } = await answersTo(SIGNED, {});
  expect(answers).toEqual(SIGNED.map(([name, , answer]) => [name, answer]));
  expect(await connect(address, null)).toEqual(MISSING);
  expect(await connect(address, 'Bearer')).toEqual(MALFORMED);
});

test('a signed token is for an issuer and an audience, where they are named', async () => {
  const { answers } = await answersTo(OF_CLAIMS, { issuer: 'i', audience: 'a' });
  expect(answers).toEqual(OF_CLAIMS.map(([name, , answer]) => [name, answer]));
});

test('a file that cannot be used is told', () => {
  const folder = tempFolder({
    empty: ' \n',
    short: `${'x'.repeat(31)}\n`,
    long: 'x'.repeat(70_000),
  });
  const capability = (name: string) => () =>
    readBearerRules({ mode: 'capability-token', token: { file: join(folder, name) } });
  const signed = (name: string) => () =>
    readBearerRules({
      mode: 'signed-bearer-token',
      secretFile: join(folder, name),
      issuer: null,
      audience: null,
      clockSkewSeconds: 30,
    });
  const at = (name: string) => join(folder, name);
  expect(capability('gone')).toThrow(`--ws-token-file ${at('gone')}: the file does not exist`);
  expect(capability('empty')).toThrow(`--ws-token-file ${at('empty')}: the file is empty`);
  expect(capability('.')).toThrow(/^--ws-token-file .*: the file cannot be read: /);
  expect(capability('long')).toThrow(/^--ws-token-file .*: the file cannot be read: /);
  expect(signed('gone')).toThrow(`--ws-shared-secret-file ${at('gone')}: the file does not exist`);
  expect(signed('short')).toThrow(
    `--ws-shared-secret-file ${at('short')}: the secret has 31 bytes, and needs at least 32`,
  );
});
