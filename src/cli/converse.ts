import { join } from 'node:path';
import { CLOSE_MS_MAX } from '../agent/closing-programs.ts';
import { protectStore, storeFileIn } from '../base/files/own-file.ts';
import type { Command } from './command-line/command.ts';
import { createLog } from './log/create-log.ts';
import { EXIT_INTERNAL, type ServiceHost, type Streams } from './service.ts';
import { STDOUT, watchClient } from './watch-client.ts';
import { workingDirectory } from './working-directory.ts';

/** One turn, or a session, of a server in this process. */
export async function converse(
  command: Extract<Command, { run: 'exec' | 'wire' }>,
  { system, version, packageFolder, home, check, onSignal, onFault, fail, start }: ServiceHost,
): Promise<void> {
  const { options } = command;
  protectStore(storeFileIn(home));
  // A person reads stderr: what concerns them comes as warnings.
  const log = createLog(
    { ...options, byDefault: options.logFile === null ? 'off' : 'warn' },
    system.env,
    system.stderr,
  );
  onFault(log, (error) => system.exit(fail(error, EXIT_INTERNAL)));
  await check(options);
  const { env, stdin, stdout, stderr } = system;
  const host = {
    ...{ version, env, stdin, stdout, stderr, schemaDir: join(packageFolder, 'schema') },
    folder: { path: workingDirectory(options.cwd), isGiven: options.cwd !== null },
    ignored: options.unused.allowing,
    log,
    start: (streams: Streams) => start(options, log, streams),
    onSignal,
    // The parent may end first, as with nohup.
    onReaderGone: (handler: () => void) =>
      void watchClient({ parent: () => 0, output: STDOUT, onGone: handler }),
    exit: (code: number) => system.exit(code),
    limitClose: (code: number) => void setTimeout(() => system.exit(code), CLOSE_MS_MAX).unref(),
  };
  const exitCode =
    command.run === 'wire'
      ? await (await import('./wire/run-wire.ts')).runWire(command.asked, host)
      : await (await import('./exec/run-exec.ts')).runExec(command.asked, host);
  stdout.write('', () => system.exit(exitCode));
}
