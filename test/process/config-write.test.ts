import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeFiles } from '../config/temp-folder.ts';
import { EXECUTABLE, environment, type Place, place, startHeddle } from './support.ts';

const CONFIG =
  '# mine\n\nmodel = "m" # the model\nmodel_provider = "own"\n\n[model_providers.own]\nwire_api = "scripted"\n';

function heddle(where: Place, args: string[]) {
  const options = {
    cwd: where.work,
    env: environment(where),
    encoding: 'utf8',
    timeout: 30_000,
  } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [EXECUTABLE, ...args], options);
  return { status, stdout, stderr };
}

test('the built server edits config.toml in a thread of its own, one write after another', async () => {
  const where = place();
  writeFiles(where.home, { 'config.toml': CONFIG });
  const server = await startHeddle(where);
  const write = (keyPath: string, value: unknown) =>
    server.request('config/value/write', { keyPath, value, mergeStrategy: 'replace' });
  const written = await Promise.all([
    write('model', 'n'),
    write('features.goals', false),
    write('features.goals', true),
  ]);
  expect(written.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
  expect(readFileSync(join(where.home, 'config.toml'), 'utf8')).toBe(
    `${CONFIG.replace('"m"', '"n"')}\n[features]\ngoals = true\n`,
  );
  expect(await server.request('thread/start', {})).toMatchObject({ model: 'n' });
  await server.finish();
});

test('two servers that share a home keep the changes of both', async () => {
  const where = place();
  writeFiles(where.home, { 'config.toml': CONFIG });
  const [one, two] = await Promise.all([startHeddle(where), startHeddle(where)]);
  const change = (server: typeof one, keyPath: string) =>
    server.request('config/value/write', { keyPath, value: keyPath, mergeStrategy: 'replace' });
  await change(one, 'review_model');
  await change(two, 'service_tier');
  const { config } = await two.request('config/read', {});
  expect(config).toMatchObject({ review_model: 'review_model', service_tier: 'service_tier' });
  await Promise.all([one.finish(), two.finish()]);
});

test('heddle doctor prints what it finds, with --json for programs, and -p chooses a profile', () => {
  const where = place();
  writeFiles(where.home, { 'config.toml': CONFIG, 'other.config.toml': 'sandbox_mode = "rw"\n' });
  const well = heddle(where, ['doctor', '--json']);
  expect([well.status, well.stderr]).toEqual([0, '']);
  expect(JSON.parse(well.stdout)).toMatchObject({ ok: true, checks: expect.any(Array) });
  const ill = heddle(where, ['doctor', '-p', 'other']);
  expect(ill.status).toBe(1);
  expect(ill.stdout).toContain(
    `${join(where.home, 'other.config.toml')}:1:1: sandbox_mode: expected one of "read-only"`,
  );
  const wrong = heddle(where, ['doctor', '--drain']);
  expect([wrong.status, wrong.stderr]).toEqual([
    2,
    'heddle: --drain cannot be used with doctor, only with app-server (see "heddle help doctor")\n',
  ]);
});
