// A complete session with heddle, with a `kill -9` in the middle. Run it with `npm run demo`; `npm
// run demo -- --help` lists the options. The demo checks everything that it shows, and fails if
// something is wrong.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkProvider } from './demo/check-provider.ts';
import { type DemoOptions, DemoUsageError, demoOptions, HELP } from './demo/demo-options.ts';
import { DemoSession } from './demo/demo-session.ts';
import { ModelWatch } from './demo/model-watch.ts';
import { Screen } from './demo/screen.ts';

const EMBEDDED_MS_MAX = 60_000;
const MODEL_MS_MAX = 300_000;
const USAGE_EXIT_CODE = 2;

async function main(): Promise<void> {
  const options = optionsOrEnd(process.argv.slice(2));
  if (options.help) process.stdout.write(HELP);
  else await runDemo(options);
}

function optionsOrEnd(args: string[]): DemoOptions {
  try {
    return demoOptions(args);
  } catch (error) {
    if (!(error instanceof DemoUsageError)) throw error;
    process.stderr.write(`demo: ${error.message}\n`);
    process.exit(USAGE_EXIT_CODE);
  }
}

async function runDemo({ wire, model, settings }: DemoOptions): Promise<void> {
  const screen = new Screen(process.stdout, {
    wire,
    colors: process.stdout.isTTY === true && !process.env.NO_COLOR,
  });
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'heddle-demo-'));
  const args = ['app-server', ...settings.flatMap((setting) => ['-c', setting])];
  const modelWatch = model === null ? null : new ModelWatch({ model });
  const onNotification = modelWatch?.receive.bind(modelWatch);
  const session = new DemoSession({
    screen,
    folder,
    args,
    isEmbedded: model === null,
    onNotification,
  });
  // However the demo ends.
  process.on('exit', () => {
    void session.end();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(1));
  process.stdout.once('error', () => process.exit(1)); // The reader of the output has closed it.
  const watch = new AbortController();
  try {
    if (model !== null) {
      const { summary, warnings } = await checkProvider({
        home: join(folder, 'home'),
        cwd: folder,
        settings,
      });
      screen.note(`model provider: ${summary}`);
      for (const warning of warnings) screen.note(`warning: ${warning}`);
    }
    const limits = [
      tooLong(model === null ? EMBEDDED_MS_MAX : MODEL_MS_MAX, watch.signal),
      ...(modelWatch === null ? [] : [modelWatch.tooLate]),
    ];
    const refusal = await Promise.race([session.run(), ...limits]);
    showEnd(screen, refusal);
  } catch (error) {
    process.stderr.write(
      `\nThe demo failed: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    process.exitCode = 1;
  } finally {
    watch.abort();
    modelWatch?.end();
    await session.end();
  }
}

async function tooLong(msMax: number, signal: AbortSignal): Promise<never> {
  await sleep(msMax, undefined, { signal });
  throw new Error(`the demo did not end within ${msMax / 1000} s`);
}

/** `refusal`: why there is no sandbox. */
function showEnd(screen: Screen, refusal: string | null): void {
  const command = refusal === null ? ' a command,' : '';
  screen.heading(
    `ok: checked the handshake, streaming, the history after a kill, resume, fork, a turn in each thread,${command} a patch, an approval, a guardian, an agent of an agent, the list, and the exit`,
  );
  if (refusal !== null) screen.heading(`NOT checked: a command in the sandbox. ${refusal.trim()}`);
}

await main();
