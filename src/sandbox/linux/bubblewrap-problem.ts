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

/** What to tell of a bubblewrap that is `missing`, or that said this on stderr in place of starting. */
export function bubblewrapProblem(said: string): string {
  const install = INSTALLERS.find(([program]) => existsSync(program))?.[1] ?? 'install the package bubblewrap, 0.8 or later';
  if (said === 'missing') return `Commands cannot be sandboxed: bubblewrap is missing. Run: ${install}`;
  const reason = said.trim().split('\n').at(-1) ?? '';
  if (/Unknown option/i.test(said)) {
    return `Commands cannot be sandboxed: bubblewrap is too old, 0.8 or later is needed (${reason}). Run: ${install}`;
  }
  if (!USER_NAMESPACES_FORBIDDEN.test(said)) return `Commands cannot be sandboxed: bubblewrap does not start (${reason}).`;
  return `Commands cannot be sandboxed: this system lets bubblewrap make no user namespace (${reason}). ${allowLine()}`;
}

function allowLine(): string {
  if (CONTAINER_MARKS.some((path) => existsSync(path))) {
    return `Start the container with: ${['seccomp', 'apparmor', 'systempaths'].map((what) => `--security-opt ${what}=unconfined`).join(' ')}`;
  }
  if (existsSync(APPARMOR_RESTRICTION)) return 'Run: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0';
  return 'Run: sudo sysctl -w user.max_user_namespaces=15000 kernel.unprivileged_userns_clone=1';
}
