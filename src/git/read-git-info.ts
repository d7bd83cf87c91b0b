import { gitConfigValue } from '../base/git/git-config-value.ts';
import {
  type GitFolder,
  gitFolder,
  readGitBytes,
  readGitConfig,
  readGitFile,
} from '../base/git/git-folder.ts';
import { projectFolders } from '../config/trust/project-folders.ts';
import type { GitInfo } from '../protocol/generated/types.ts';

const PACKED_REFS_BYTES_MAX = 32 * 1024 * 1024;
/** The most refs that are followed from one to the next. */
const REFS_MAX = 5;
const SHA_CHARS_MAX = 64;
const SHA = /^([0-9a-f]{40}|[0-9a-f]{64})$/;
const REF = /^refs\/(?!.*(?:\.\.|\/\/|\/\.|@\{))[^\s~^:?*[\\\x7f]+[^\s~^:?*[\\\x7f/.]$/;

/**
 * Reads the commit, branch and remote of the repository that contains `cwd`. Returns null if there
 * is none. Unknown values are null, such as the commit in a repository with its refs in reftables.
 *
 * Anyone may have made the repository, so its files are only read as data. Git is not started,
 * because it runs programs that these files name.
 */
export async function readGitInfo(cwd: string): Promise<GitInfo | null> {
  const { root, isRepository } = projectFolders(cwd);
  if (!isRepository) return null;
  const folder = await gitFolder(root);
  if (folder === null) return { sha: null, branch: null, originUrl: null };
  const head = (await readGitFile(folder.own, 'HEAD'))?.trim() ?? '';
  const ref = refIn(head);
  const originUrl = gitConfigValue(await readGitConfig(folder), ['remote', 'origin', 'url']);
  return {
    sha: ref === null ? shaIn(head) : await commitOf(ref, folder),
    branch: branchOf(ref),
    originUrl: originUrl === null || originUrl === '' ? null : withoutCredentials(originUrl),
  };
}

/** Returns the ref that a file names, or null if it names none or the name is invalid. */
function refIn(text: string): string | null {
  const ref = /^ref: *(\S+)$/.exec(text)?.[1] ?? '';
  return REF.test(ref) ? ref : null;
}

function shaIn(text: string): string | null {
  return SHA.test(text) ? text : null;
}

function branchOf(ref: string | null): string | null {
  return ref?.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : null;
}

async function commitOf(ref: string, { own, shared }: GitFolder): Promise<string | null> {
  let name = ref;
  for (let refs = 0; refs < REFS_MAX; refs++) {
    const text = ((await readGitFile(shared, name)) ?? (await readGitFile(own, name)))?.trim();
    if (text === undefined) return packedCommitOf(name, shared);
    const next = refIn(text);
    if (next === null) return shaIn(text);
    name = next;
  }
  return null;
}

async function packedCommitOf(ref: string, shared: string): Promise<string | null> {
  const bytes = await readGitBytes(shared, 'packed-refs', PACKED_REFS_BYTES_MAX);
  const end = bytes?.indexOf(` ${ref}\n`) ?? -1;
  if (bytes === null || end === -1) return null;
  const start = Math.max(bytes.lastIndexOf('\n', end) + 1, end - SHA_CHARS_MAX - 1);
  return shaIn(bytes.toString('latin1', start, end));
}

/**
 * Removes the user and the token from a remote. The user of an ssh address stays, because the
 * address needs it.
 */
function withoutCredentials(remote: string): string {
  if (!URL.canParse(remote)) return remote.replace(/\/\/[^/@]*@/, '//');
  const url = new URL(remote);
  if (url.password === '' && url.username === '') return remote;
  url.password = '';
  if (url.protocol !== 'ssh:') url.username = '';
  return url.href;
}
