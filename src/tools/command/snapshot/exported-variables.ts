import type { Env } from '../../../base/env.ts';

/**
 * The most that all variables together may have, names and values. Programs cannot be started with
 * much more.
 */
const CHARS_MAX = 256 * 1024;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The variables that stay as the server has them. They belong to one process, one terminal or one
 * login, or decide how heddle starts, finds and confines commands.
 */
const OWN_NAMES = new Set(
  `_ PWD OLDPWD SHLVL HOME SHELL USER LOGNAME USERNAME TMPDIR TMP TEMP BASH_ENV ENV ZDOTDIR HTTP_PROXY HTTPS_PROXY ALL_PROXY FTP_PROXY
  NO_PROXY SSH_AGENT_PID SSH_TTY SSH_CONNECTION SSH_CLIENT TERM COLORTERM TERMCAP COLUMNS LINES WINDOWID GPG_TTY TTY TMUX TMUX_PANE STY
  VTE_VERSION KONSOLE_VERSION WT_SESSION`
    .trim()
    .split(/\s+/),
);
const OWN_PREFIXES = [
  'HEDDLE_',
  'CODEX_SANDBOX',
  'TERM_',
  'ITERM_',
  'KITTY_',
  'WEZTERM_',
  'ALACRITTY_',
  'ZELLIJ',
  'SANDBOX_',
];

/** Returned if there is more than fits. */
export type ExportedVariables = Readonly<Record<string, string>> | 'tooMany';

/**
 * Returns the variables that a shell has added to the server's environment or changed. `output` has
 * all of them, each with a NUL at its end. PATH keeps the folders of the server that the shell does
 * not name, at its beginning.
 */
export function exportedVariables(output: string, env: Env): ExportedVariables {
  const all = new Map<string, string>();
  for (const entry of output.split('\0')) {
    const end = entry.indexOf('=');
    const [name, value] = [entry.slice(0, Math.max(end, 0)), entry.slice(end + 1)];
    // A value that is no UTF-8 cannot be passed on.
    if (NAME.test(name) && !isOwn(name) && !value.includes('\ufffd')) all.set(name, value);
  }
  // An agent that the shell has started ends with the snapshot.
  if (/(?:^|\0)SSH_AGENT_PID=/.test(output) && env.SSH_AGENT_PID === undefined)
    all.delete('SSH_AUTH_SOCK');
  const path = all.get('PATH');
  if (path !== undefined) all.set('PATH', joinedPath(env.PATH ?? '', path));
  const changed = [...all].filter(([name, value]) => env[name] !== value);
  const chars = changed.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return chars > CHARS_MAX ? 'tooMany' : Object.fromEntries(changed);
}

function isOwn(name: string): boolean {
  const upper = name.toUpperCase();
  return OWN_NAMES.has(upper) || OWN_PREFIXES.some((prefix) => upper.startsWith(prefix));
}

/**
 * The server may have been started with folders that the shell does not know, such as those of a
 * virtual environment.
 */
function joinedPath(own: string, ofShell: string): string {
  const known = new Set(ofShell.split(':'));
  return [...own.split(':').filter((folder) => folder !== '' && !known.has(folder)), ofShell].join(
    ':',
  );
}
