import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tempFolder, writeFiles } from '../../config/temp-folder.ts';
import { ApprovalSession, confinedConfig, OUTSIDE } from '../approval-session.ts';
import { attack, stateOf, type World } from './programs-world.ts';

describe('a login shell outside the sandbox', () => {
  const HOME_FILES = {
    'work/.profile': '. "$HOME/.bashrc"\n',
    'work/.bashrc':
      'TOOLS=~/.tools\n[ -f "$TOOLS/env" ] && . "$TOOLS/env"\nfor file in ~/.bashrc.d/*.sh; do . "$file"; done\n',
    'work/.tools/env': 'eval "$(~/.tools/bin/shim init)"\n',
    'work/.tools/bin/shim': '#!/bin/sh\n',
    'work/.bashrc.d/one.sh': '',
  };

  async function startHome(
    files: Record<string, string>,
  ): Promise<World & { session: ApprovalSession; canary: string }> {
    const folder = tempFolder(files);
    const work = join(folder, 'work');
    if (files['work/.tools/bin/shim'] !== undefined)
      chmodSync(join(work, '.tools/bin/shim'), 0o755);
    const env = { HOME: work, SHELL: '/bin/bash', PATH: '/usr/bin:/bin' };
    const session = await ApprovalSession.start({
      folder,
      env,
      config: confinedConfig('on-request'),
    });
    return { folder, work, session, canary: join(folder, 'canary') };
  }

  test('reads no file that commands could write: those that exist are protected, with what they read', async () => {
    const { work, session } = await startHome(HOME_FILES);
    const paths = [
      ...Object.keys(HOME_FILES).map((path) => path.slice('work/'.length)),
      '.bashrc.d/two.sh',
    ].map((path) => join(work, path));
    const before = paths.map(stateOf);
    await session.run(attack(...paths));
    expect(paths.map(stateOf)).toEqual(before);
    const { asked } = await session.patch(
      '*** Begin Patch\n*** Add File: .bash_profile\n+evil\n*** End Patch',
      { decision: 'decline' },
    );
    expect(asked.map(({ reason }) => reason)).toEqual([
      `${join(work, '.bash_profile')} is protected by the sandbox: a login shell runs it outside the sandbox.`,
    ]);
  });

  test('is not started if a command has made a file that it reads first', async () => {
    const { folder, work, session, canary } = await startHome({ 'work/.profile': '' });
    await session.run(`echo 'echo started >> ${canary}' > .bash_profile`);
    const refused = await session.run('echo ran', OUTSIDE);
    expect(refused.output).toContain(
      `${join(work, '.bash_profile')} is new or has changed while commands in the sandbox could write it`,
    );
    expect(stateOf(canary)).toBeNull();
    expect((await session.run('echo ran', { ...OUTSIDE, login: false })).output).toContain('ran');
    // In the sandbox, it is only a file of the workspace.
    expect((await session.run('echo ran')).output).toContain('ran');
    expect(stateOf(join(folder, 'canary'))).toBeNull();
  });

  test('is started if nothing has changed, and with start files in a workspace of dotfiles that are linked', async () => {
    const folder = tempFolder({ 'work/profile': 'echo from the profile\n', 'user/x': '' });
    symlinkSync('../work/profile', join(folder, 'user/.profile'));
    const env = { HOME: join(folder, 'user'), SHELL: '/bin/bash', PATH: '/usr/bin:/bin' };
    const session = await ApprovalSession.start({
      folder,
      env,
      config: confinedConfig('on-request'),
    });
    await session.run(`${attack(join(folder, 'work/profile'))}; touch free`);
    expect(stateOf(join(folder, 'work/profile'))).toBe('echo from the profile\n');
    expect(stateOf(join(folder, 'work/free'))).toBe('');
    expect((await session.run('echo ran', OUTSIDE)).output).toMatch(/from the profile\nran\n/);
    // The user may change it.
    writeFiles(folder, { 'work/profile': 'echo from the new profile\n' });
    expect((await session.run('echo ran', OUTSIDE)).output).toMatch(/from the new profile\nran\n/);
  });
});
