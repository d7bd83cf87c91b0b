/** The commands that shells have built in. */
export const SHELL_BUILT_INS: ReadonlySet<string> = new Set(
  (
    '. : alias autoload bg bind break builtin caller case cd compgen complete continue coproc declare dirs disown echo emulate enable eval ' +
    'exit export false fc fg for function getopts hash help history if integer jobs kill let local logout mapfile noglob popd print printf ' +
    'pushd pwd read readarray readonly return select set setopt shift shopt source suspend test then times trap true type typeset ulimit ' +
    'umask unalias unset until wait whence while zmodload'
  ).split(' '),
);
