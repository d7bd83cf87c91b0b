import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentScenes } from './agent-scenes.ts';
import { DemoSession } from './demo-session.ts';
import { makeProject } from './make-project.ts';
import { Screen } from './screen.ts';
import { DARK, LIGHT, terminalPicture } from './terminal-picture.ts';

const COLUMNS = 80;
const TITLE = 'A turn in the demo of heddle: a command, a patch, and an approval';
/** Answers in place of a model. */
const SCRIPT = [
  { call: 'exec_command', arguments: { cmd: 'cat hello.txt', login: false } },
  {
    call: 'apply_patch',
    input:
      '*** Begin Patch\n*** Update File: hello.txt\n@@\n-Hello.\n+Hello, heddle.\n*** End Patch\n',
  },
  {
    call: 'exec_command',
    arguments: {
      cmd: 'cp hello.txt ../outside.txt',
      login: false,
      sandbox_permissions: 'require_escalated',
      justification: 'May the copy be written outside the project?',
    },
  },
  'hello.txt now greets heddle, and a copy is in ../outside.txt.',
];

/**
 * Runs a part of the demo with a script and a deterministic server. Returns the pictures of what it
 * shows, by file name: the same ones each time. Rejects if there is no sandbox for commands.
 */
export async function readmePictures(): Promise<Record<string, string>> {
  const text = await shownTurn();
  const picture = { title: TITLE, text, columns: COLUMNS };
  return {
    'demo-dark.svg': terminalPicture({ ...picture, colors: DARK }),
    'demo-light.svg': terminalPicture({ ...picture, colors: LIGHT }),
  };
}

async function shownTurn(): Promise<string> {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'heddle-pictures-'));
  const script = join(folder, 'script.json');
  writeFileSync(script, JSON.stringify(SCRIPT));
  let shown = '';
  const screen = new Screen(
    { write: (text) => (shown += text), isTTY: true, columns: COLUMNS },
    { wire: false, colors: true },
  );
  const args = ['app-server', '--deterministic', '--model-script', script];
  const session = new DemoSession({
    screen,
    folder,
    args,
    isEmbedded: false,
    env: { ...process.env, SHELL: '/bin/sh' },
  });
  try {
    makeProject(folder);
    const editor = session.startServer();
    await editor.shakeHands();
    const refusal = await new AgentScenes({ editor, screen, folder, isEmbedded: false }).work();
    if (refusal !== null) throw new Error(refusal);
    await editor.client.close();
  } finally {
    await session.end();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
  // The last line counts the tokens of instructions that name the temporary folder.
  const lines = shown.trimEnd().split('\n').slice(0, -1);
  return lines.join('\n');
}
