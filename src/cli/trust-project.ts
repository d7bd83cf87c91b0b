import { isFolder } from '../base/paths/is-folder.ts';
import { showText } from '../base/text/show-text.ts';
import { ownSettings } from '../config/load-config.ts';
import {
  judgeProjectFiles,
  type OfferedContent,
  type ProjectFile,
} from '../config/trust/judge-project-files.ts';
import { TrustRecordFile } from '../config/trust/trust-record-file.ts';
import { OptionError } from './command-line/option-error.ts';
import type { Terminal } from './terminal/terminal-at.ts';

export interface TrustOptions {
  home: string;
  /**
   * The folder with the configuration for all users, which can trust projects too. Null: there is
   * none.
   */
  systemDir: string | null;
  /** The absolute path of a folder of the project. */
  folder: string;
  /** Whether the user has agreed in advance. */
  yes: boolean;
}

/**
 * Shows the project files that are not in force in a folder and in those above it, asks, and
 * records exactly the shown contents as trusted. Returns true if all files of trusted folders are
 * then in force. Throws an OptionError if there is no such folder, and a TrustError or a
 * ConfigError if a file in the home prevents it.
 */
export async function trustProject(
  { home, systemDir, folder, yes }: TrustOptions,
  terminal: Terminal,
): Promise<boolean> {
  if (!isFolder(folder))
    throw new OptionError(`trust ${showText(folder)}: there is no such folder`);
  const user = await ownSettings({ home, systemDir });
  const trustedFiles = new TrustRecordFile({ home });
  const { files } = await judgeProjectFiles({ cwd: folder, home, user }, trustedFiles);
  if (trustedFiles.problem !== null) throw trustedFiles.problem;
  const refused = files.filter((one) => !one.isInForce);
  for (const { path, reason, offered } of refused) {
    terminal.print(offered === null ? `${showText(reason)}.\n\n` : shownContent(path, offered));
  }
  const offers = refused.map(({ offered }) => offered).filter((offered) => offered !== null);
  if (offers.length === 0) {
    if (refused.length === 0) terminal.print(nothingToTrust(files));
    return refused.length === 0;
  }
  if (!(yes || (await isConfirmed(offers, terminal)))) return false;
  trustedFiles.trust(
    offers.map(({ entry, relativePath, hash }) => ({
      folder: entry,
      files: { [relativePath]: hash },
    })),
  );
  terminal.print(
    `Trusted. It applies to threads that are started, resumed or forked from now on.\n`,
  );
  return offers.length === refused.length;
}

async function isConfirmed(
  offers: readonly OfferedContent[],
  { confirm }: Terminal,
): Promise<boolean> {
  if (confirm === null)
    throw new OptionError(
      'trust: nobody can answer, because the input is not a terminal: use --yes',
    );
  return confirm(
    `Trust ${offers.length === 1 ? 'this content' : `these ${offers.length} contents`}? [y/N] `,
  );
}

function nothingToTrust(files: readonly ProjectFile[]): string {
  if (files.length === 0)
    return 'There is nothing to trust: no file of the project sets anything here.\n';
  return `There is nothing to trust. These files are in force:\n${files.map(({ path }) => `  ${showText(path)}\n`).join('')}`;
}

/**
 * Each line of the content begins with a bar, so that no line of it looks like one of heddle's own.
 */
function shownContent(path: string, { bytes, isChanged }: OfferedContent): string {
  const lines = bytes.toString('utf8').replace(/\n$/, '').split('\n');
  const content = lines.map((line) => `  | ${showText(line, { multiline: true })}\n`).join('');
  return `${showText(path)} ${isChanged ? 'has changed since you trusted it' : 'is new'}:\n${content}\n`;
}
