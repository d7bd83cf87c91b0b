import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder, writeFiles } from '../../config/temp-folder.ts';
import { sourceUrl } from '../../support/source-url.ts';

const CERTIFICATES = join(import.meta.dirname, '..', '..', 'model', 'certificates', 'ca.pem');
/**
 * Looks for things that are there, while no file descriptor is left and then with some, and prints
 * what was found.
 */
const script = (folder: string) => `
import { closeSync, openSync } from 'node:fs';
import { EventLoopYield } from ${sourceUrl('base/event-loop-yield.ts')};
import { trustedContext } from ${sourceUrl('base/http/trusted-context.ts')};
import { findSkills } from ${sourceUrl('instructions/skills/find-skills.ts')};
import { serverPlaces } from ${sourceUrl('sandbox/places/server-places.ts')};
const log = { warn: () => console.log('warned') };
const folder = ${JSON.stringify(folder)};
const looks = {
  certificates: async () => (await trustedContext({ env: { SSL_CERT_FILE: ${JSON.stringify(CERTIFICATES)} }, log })) !== null,
  skills: async () => {
    const { skills } = await findSkills({ home: folder, userHome: null, cwd: folder, extraRoots: [], switches: [] });
    return skills.length > 0;
  },
  packages: async () => serverPlaces({ manifest: folder + '/package.json', executable: process.execPath }).some((path) => path.includes('dep')),
};
const outcomes = {};
// What it takes to load the code is not what this is about.
for (const look of Object.values(looks)) await look().catch(() => {});
for (const isExhausted of [true, false]) {
  for (const [name, look] of Object.entries(looks)) {
    const open = [];
    try { for (; isExhausted;) open.push(openSync('/dev/null')); } catch {}
    let outcome;
    try { outcome = await look(); } catch (error) { outcome = error.code; }
    for (const file of open) closeSync(file);
    outcomes[name] = [...(outcomes[name] ?? []), outcome];
  }
}
console.log(JSON.stringify(outcomes));
process.exit();
`;

test.runIf(process.platform === 'linux')(
  'what cannot be looked for without file descriptors is not taken for absent',
  () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'node_modules', 'dep'), { recursive: true });
    writeFiles(folder, {
      'package.json': JSON.stringify({ dependencies: { dep: '1' } }),
      'node_modules/dep/package.json': '{}',
      'skills/mine/SKILL.md': '---\nname: mine\ndescription: Does it\n---\n',
    });
    const args = [
      '-c',
      'ulimit -n 80; exec "$@"',
      'sh',
      process.execPath,
      '--import',
      'tsx',
      '--input-type=module',
      '-e',
      script(folder),
    ];
    const { status, stdout, stderr } = spawnSync('/bin/sh', args, {
      encoding: 'utf8',
      timeout: 20_000,
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      certificates: ['EMFILE', true],
      skills: ['EMFILE', true],
      packages: ['EMFILE', true],
    });
  },
);
