import { closeSync, openSync } from 'node:fs';
import type { CommandListener, Listeners } from '../listeners.ts';
import { proxyUnavailable } from '../proxy-unavailable.ts';
import { checkEntry, type NamespaceHandles } from './enter-namespace.ts';
import { makeUnnamedFile } from './make-unnamed-file.ts';

/** A network namespace without any connection to another one, and a listener in it. */
export interface NetworkNamespace extends NamespaceHandles {
  /** A file without a name, for what bubblewrap writes about a command. */
  info: number;
  listener: CommandListener;
  /** Closes the listener, too. */
  close(): void;
}

export interface PrepareDeps {
  /** The path of bubblewrap. */
  bubblewrap: string;
  /** The path of Node, or of a program that contains it. */
  node: string;
  listeners: Listeners;
  /** A folder to which no confined process can write. */
  home: string;
  /** Whether to check that programs can enter it. */
  isChecked: boolean;
}

/** The port of the listener, on the loopback of the namespace. */
export const NAMESPACE_PORT = 3128;

/**
 * Makes a network namespace. Rejects with a `SandboxUnavailableError` if the system does not allow
 * it.
 */
export async function prepareNamespace({
  bubblewrap,
  node,
  listeners,
  home,
  isChecked,
}: PrepareDeps): Promise<NetworkNamespace> {
  const program = [
    bubblewrap,
    '--unshare-user',
    '--unshare-net',
    '--die-with-parent',
    '--ro-bind',
    '/',
    '/',
    '--',
    node,
  ];
  const received = await listeners.receive(program, NAMESPACE_PORT).catch((error: unknown) => {
    const problem = error instanceof Error ? error.message : String(error);
    throw proxyUnavailable(
      `a network namespace cannot be prepared (${problem === '' ? 'no answer' : problem})`,
      error,
    );
  });
  let namespace: NetworkNamespace;
  try {
    namespace = namespaceOf(received.pid, received, home);
  } finally {
    received.endSender();
  }
  if (isChecked)
    await checkEntry(namespace).catch((error: unknown) => closeAndThrow(namespace, error));
  return namespace;
}

function closeAndThrow(namespace: NetworkNamespace, error: unknown): never {
  namespace.close();
  throw error;
}

/** To be called while the process is in the namespace. */
function namespaceOf(pid: number, listener: CommandListener, home: string): NetworkNamespace {
  const files: number[] = [];
  const close = () => {
    listener.close();
    for (const file of files) closeSync(file);
  };
  try {
    files.push(makeUnnamedFile(home, Buffer.alloc(0)));
    for (const type of ['net', 'user']) files.push(openSync(`/proc/${pid}/ns/${type}`, 'r'));
  } catch (error) {
    close();
    throw error;
  }
  const [info = -1, net = -1, user = -1] = files;
  return { net, user, info, listener, close };
}
