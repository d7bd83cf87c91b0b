// @module-tag slow
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tempFolder } from '../../config/temp-folder.ts';
import { HelperShell } from './helper-shell.ts';
import { MEASURED_TIMES_MAX } from './hostile-server.ts';
import { HostileWorld } from './hostile-world.ts';
import { Random } from './random.ts';
import { runWorkspace } from './run-workspace.ts';
import { startedServer } from './started-server.ts';
import { startSupplies } from './supplies.ts';

const MB = 1024 * 1024;
const ENTRIES = 10_000;

function manyEntries(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (let index = 0; index < ENTRIES; index++) writeFileSync(join(folder, `entry${index}`), '');
}

/** Content that takes long to read, parse or list, each within the limits of heddle's readers. */
const SLOW: Record<string, (world: HostileWorld) => void> = {
  'skills with long front matters': (world) => {
    const fields = Array.from(
      { length: 1200 },
      (_, index) => `k${index}: {a: [1, 2, "x"], b: {}}`,
    ).join('\n');
    for (let skill = 0; skill < 300; skill++) {
      world.file(
        world.at('.agents', 'skills', `s${skill}`, 'SKILL.md'),
        `---\nname: s${skill}\ndescription: d\n${fields.slice(0, 31_000)}\n---\n`,
      );
    }
  },
  'a folder of skills with many entries': (world) => manyEntries(world.at('.agents', 'skills')),
  'a folder of skills with many links': (world) => {
    mkdirSync(world.at('.agents', 'skills'), { recursive: true });
    for (let index = 0; index < 2 * ENTRIES; index++)
      symlinkSync('/usr', world.at('.agents', 'skills', `link${index}`));
  },
  'long packed references': (world) => {
    world.file(world.at('.git', 'HEAD'), 'ref: refs/heads/main\n');
    world.file(world.at('.git', 'packed-refs'), '# pack-refs\n');
    truncateSync(world.at('.git', 'packed-refs'), 31 * MB);
  },
  'long git settings': (world) => {
    world.file(world.at('.git', 'HEAD'), 'ref: refs/heads/main\n');
    world.file(
      world.at('.git', 'config'),
      `[core]\n${'\tkey = "a\\\\" \\\n'.repeat(50_000)}`.slice(0, MB),
    );
  },
  'a protected link in a folder with many entries': (world) => {
    symlinkSync('real', world.at('.agents'));
    manyEntries(world.work);
    world.blame(world.work);
  },
  'a wide tree': (world) => {
    for (let index = 0; index < ENTRIES / 2; index++)
      mkdirSync(world.at('wide', `folder${index}`), { recursive: true });
  },
  'long instructions in each folder': (world) => {
    let folder = world.work;
    for (let depth = 0; depth < 30; depth++, folder = join(folder, 'd'))
      world.file(join(folder, 'AGENTS.md'), 'é'.repeat(MB));
    world.file(world.at('.git', 'HEAD'), 'ref: refs/heads/main\n');
    world.cwd = folder.slice(0, -2);
  },
};

test.each(Object.keys(SLOW))(
  '%s: the main loop of the server is not blocked, and its memory does not grow',
  { timeout: 300_000 },
  async (name) => {
    const folder = tempFolder();
    const shell = new HelperShell();
    onTestFinished(() => shell.end());
    const supplies = await startSupplies(join(folder, 'supplies'));
    const server = await startedServer();
    for (let times = 1; ; times++) {
      const base = join(folder, `s${times}`);
      mkdirSync(base);
      const world = new HostileWorld({ base, home: server.home, random: new Random(1), supplies });
      SLOW[name]?.(world);
      const { findings } = await runWorkspace(server, { world, turns: [] }, shell);
      if (findings.length > 0 && times < MEASURED_TIMES_MAX && !server.heddle.hasEnded) continue;
      expect(findings).toEqual([]);
      return;
    }
  },
);
