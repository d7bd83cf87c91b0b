import { existsSync } from 'node:fs';

const INSTALLERS: readonly [program: string, line: string][] = [
  ['/usr/bin/apt-get', 'sudo apt-get update && sudo apt-get install -y bubblewrap'],
  ['/usr/bin/dnf', 'sudo dnf install -y bubblewrap'],
  ['/usr/bin/pacman', 'sudo pacman -S --noconfirm bubblewrap'],
  ['/sbin/apk', 'sudo apk add bubblewrap'],
];
const USER_NAMESPACES_FORBIDDEN = /namespace|uid map|Operation not permitted|Permission denied/i;
const CONTAINER_MARKS = ['/.dockerenv', '/run/.containerenv'];
const APPARMOR_RESTRICTION = '/proc/sys/kernel/apparmor_restrict_unprivileged_userns';

/**
 * Returns the problem and its solution for the user. `said` is the stderr of bubblewrap, or
 * `missing` if it is not installed.
 */
export function bubblewrapProblem(said: string): string {
  const line = INSTALLERS.find(([program]) => existsSync(program))?.[1];
  const install =
    line === undefined ? 'Install the package bubblewrap, version 0.8 or later.' : `Run: ${line}`;
  if (said === 'missing') return `Commands cannot be sandboxed: bubblewrap is missing. ${install}`;
  const reason = said.trim().split('\n').at(-1) ?? '';
  if (/Unknown option/i.test(said)) {
    return `Commands cannot be sandboxed: bubblewrap is too old (${reason}). Version 0.8 or later is needed. ${install}`;
  }
  if (!USER_NAMESPACES_FORBIDDEN.test(said))
    return `Commands cannot be sandboxed: bubblewrap does not start (${reason}).`;
  return `Commands cannot be sandboxed: this system does not allow bubblewrap to create a user namespace (${reason}). ${allowLine()}`;
}

function allowLine(): string {
  if (CONTAINER_MARKS.some((path) => existsSync(path))) {
    return `Start the container with: ${['seccomp', 'apparmor', 'systempaths'].map((what) => `--security-opt ${what}=unconfined`).join(' ')}`;
  }
  if (existsSync(APPARMOR_RESTRICTION))
    return 'Run: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0';
  return 'Run: sudo sysctl -w user.max_user_namespaces=15000 kernel.unprivileged_userns_clone=1';
}
