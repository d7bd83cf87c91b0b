import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { writeFiles } from '../../config/temp-folder.ts';
import { HostileServer } from './hostile-server.ts';

/**
 * Starts a server for the running test. It has loaded its lazy modules before anything is measured.
 */
export async function startedServer(): Promise<HostileServer> {
  const server = await HostileServer.start();
  const { heddle, home } = server;
  const cwd = join(home, '..', 'work');
  execFileSync('git', ['init', '-q', cwd]);
  writeFiles(cwd, {
    'AGENTS.md': 'harmless',
    '.agents/skills/x/SKILL.md': '---\nname: x\ndescription: harmless\n---\n',
  });
  const { thread } = await heddle.request('thread/start', { cwd, approvalPolicy: 'never' });
  const calls = [
    'exec_command {"cmd":"true"}',
    'view_image {"path":"none.png"}',
    'apply_patch {"input":"*** Begin Patch\\n*** End Patch"}',
  ];
  for (let turns = 0; turns < 10; turns++) {
    await heddle.turn(thread.id, calls.map((call) => `call ${call}`).join('\n'), {
      sandboxPolicy: { type: 'workspaceWrite', excludeSlashTmp: true },
    });
  }
  await heddle.request('thread/delete', { threadId: thread.id });
  return server;
}
