import { mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { descriptorPath } from '../../src/files/descriptor-path.ts';
import { tempFolder } from '../config/temp-folder.ts';
import { PATH, run, systemProcesses } from './processes.ts';

test.each([[null], [{ rows: 24, cols: 80 }]])(
  'a process starts in the folder that is held open, whatever has its name: terminal %j',
  async (terminal) => {
    const folder = tempFolder({
      'build/which.sh': 'echo the pinned one\n',
      'other/which.sh': 'echo another\n',
    });
    const cwd = join(folder, 'build');
    const handle = await open(cwd);
    onTestFinished(() => handle.close());
    const pinnedCwd = (await descriptorPath(handle)) ?? '';
    renameSync(cwd, join(folder, 'old'));
    symlinkSync('other', cwd);
    const running = await run(systemProcesses(), ['sh', '-c', '. ./which.sh; pwd'], {
      cwd,
      pinnedCwd,
      terminal,
      env: { PATH, PWD: cwd },
    });
    expect((await running.ended).exitCode).toBe(0);
    expect(running.text.stdout.replaceAll('\r', '')).toBe(
      `the pinned one\n${join(folder, 'old')}\n`,
    );
  },
);

test('an error about the working directory shows its name, not the path of the descriptor', async () => {
  const cwd = join(tempFolder(), 'gone');
  mkdirSync(cwd);
  await expect(
    run(systemProcesses(), ['true'], { cwd, pinnedCwd: join(cwd, 'missing') }),
  ).rejects.toThrow(`cannot run in ${cwd}: No such file or directory`);
});
