/**
 * Variables that change any program started with them, including the program that confines a
 * command.
 */
const CHANGES_PROGRAMS =
  /^(LD_|DYLD_|GLIBC_|MALLOC_|GCONV_PATH$|LOCPATH$|NLSPATH$|ENV$|BASH_ENV$|BASH_FUNC_|SHELLOPTS$|BASHOPTS$|PS4$)/;

/**
 * Splits an environment: the confining program gets `kept`, and sets `moved` for the confined
 * command only.
 */
export function splitEnvironment(env: Readonly<Record<string, string>>): {
  kept: Record<string, string>;
  moved: [string, string][];
} {
  const all = Object.entries(env);
  const moved = all.filter(([name]) => CHANGES_PROGRAMS.test(name));
  return { kept: Object.fromEntries(all.filter(([name]) => !CHANGES_PROGRAMS.test(name))), moved };
}
