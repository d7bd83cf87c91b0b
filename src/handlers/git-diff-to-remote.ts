import { isAbsolute, resolve } from 'node:path';
import { gitFolder } from '../base/git/git-folder.ts';
import { isWithin } from '../base/paths/is-within.ts';
import { realPathOrSame } from '../base/paths/real-path.ts';
import { environmentPolicy } from '../config/environment-policy.ts';
import { profileFiles } from '../config/profile-files.ts';
import { projectFolders } from '../config/trust/project-folders.ts';
import { pathOutside, safeGitEnv, withoutGitVariables } from '../git/safe-git-env.ts';
import { commandEnvironment } from '../policy/command/command-environment.ts';
import { noDiffToRemote } from '../protocol/errors/file-errors.ts';
import { invalidParams } from '../protocol/rpc-error.ts';
import { EXIT_CODE } from '../tools/command/sessions/exit-code.ts';
import type { ClientProcessRights } from './client-processes/client-process.ts';
import { execBounds } from './client-processes/exec-bounds.ts';
import type { ClientProcessServices } from './command.ts';
import { diffToRemote, type RunGit } from './git-diff/diff-to-remote.ts';
import { type ScratchFolder, takeScratchFolder } from './git-diff/scratch-folder.ts';
import { type MethodTable, unqueued } from './requested/method.ts';

const TIMEOUT_MS = 30_000;
/** A longer diff is refused. */
const DIFF_BYTES_MAX = 8 * 1024 * 1024;

type GitDiffServices = Omit<ClientProcessServices, 'clients'>;

export function gitDiffToRemoteMethods(deps: GitDiffServices) {
  return {
    gitDiffToRemote: {
      order: unqueued,
      async handle({ cwd }, { caller }) {
        if (!isAbsolute(cwd)) throw invalidParams(`params.cwd: "${cwd}" is not an absolute path`);
        const { root, isRepository } = projectFolders(cwd);
        const folder = isRepository ? await gitFolder(root) : null;
        if (folder === null || isWithin(realPathOrSame(cwd), folder.own)) throw noDiffToRemote(cwd);
        let problem: string | undefined;
        const scratch = takeScratchFolder();
        const run: RunGit = async (script, args, filters) => {
          const { ended } = deps.clientProcesses.start(null, {
            connection: caller.id,
            argv: ['/bin/sh', '-c', script, 'sh', ...args],
            cwd: root,
            input: false,
            terminal: null,
            timeoutMs: TIMEOUT_MS,
            outputBytesCap: DIFF_BYTES_MAX,
            onOutput: null,
            rights: rightsOf(deps, { cwd: resolve(cwd), root, filters, scratch }),
          });
          const { exitCode, output } = await ended;
          if (output.capReached('stdout'))
            problem ??= `it has more than ${DIFF_BYTES_MAX / 1024 / 1024} MiB`;
          else if (exitCode === EXIT_CODE.timedOut)
            problem ??= `git took longer than ${TIMEOUT_MS / 1000} s`;
          else if (exitCode !== 0)
            problem ??= output.text('stderr').trim().split('\n')[0] || undefined;
          return problem === undefined && exitCode === 0 ? output.text('stdout') : null;
        };
        const response = await diffToRemote(run, { bytesMax: DIFF_BYTES_MAX }).finally(() =>
          scratch.release(),
        );
        if (response === null || 'problem' in response)
          throw noDiffToRemote(cwd, response?.problem ?? problem);
        return response;
      },
    },
  } satisfies Partial<MethodTable>;
}

interface Repository {
  cwd: string;
  root: string;
  filters: readonly string[];
  scratch: ScratchFolder;
}

/**
 * Git only reads, without the network: anyone may have made the repository. What it writes is its
 * own, and not in the repository.
 */
async function rightsOf(
  deps: GitDiffServices,
  { cwd, root, filters, scratch }: Repository,
): Promise<ClientProcessRights> {
  const config = await deps.config(cwd);
  const { env: given } = commandEnvironment(deps.env, environmentPolicy(config));
  const own = {
    PATH: pathOutside(given.PATH ?? '', [root]),
    LC_ALL: 'C',
    TMPDIR: scratch.path,
    GIT_WORK_TREE: root,
  };
  const env = { ...withoutGitVariables(given), ...own, ...safeGitEnv(filters) };
  const folders = { cwd: root, serverCwd: deps.cwd, tempDir: scratch.path, home: deps.home };
  const granted = [{ read: [], write: scratch.writable, network: false }];
  const bounds = execBounds({ type: 'readOnly', networkAccess: false }, folders, {
    profileFiles: profileFiles(config),
    granted,
  });
  return { env, bounds, network: null };
}
