/** Programs that run other commands from their arguments. */
export const COMMAND_RUNNERS: ReadonlySet<string> = new Set(
  (
    '. alias bash bind busybox builtin caffeinate chpst chroot chrt command complete coproc csh dash doas entr env eval exec firejail fish ' +
    'flock gosu hash ionice ksh ld-linux-aarch64.so.1 ld-linux-x86-64.so.2 ld.so ltrace mapfile mksh nice nohup nsenter numactl parallel pkexec proot readarray rlwrap run0 runuser schedtool ' +
    'script setarch setpriv setsid sh source ssh start-stop-daemon stdbuf strace su sudo systemd-run taskset time timeout ' +
    'timelimit toybox trap tcsh unbuffer unshare watch xargs xvfb-run zsh'
  ).split(' '),
);

/** Shells: without a script argument, they run their input. */
export const SHELLS: ReadonlySet<string> = new Set(
  'ash bash csh dash fish ksh mksh sh tcsh zsh'.split(' '),
);

const INTERPRETER_NAMES =
  'python|pypy|ipython|perl|raku|ruby|irb|jruby|erb|node|deno|bun|tsx|ts-node|php|lua|luajit|awk|gawk|mawk|nawk|emacs|expect|gdb|lldb|' +
  'vim|nvim|vi|view|vimdiff|ex|ed|osascript|pwsh|powershell|tclsh|wish|Rscript|java|jshell|groovy|scala|kotlin|swift|dart|julia|octave|' +
  'guile|racket|sbcl|clisp|elixir|iex|escript|ghci|runghc|runhaskell|ocaml|m4|sqlite';

/** Matches the names of programs that run code, also code in their arguments. */
export const INTERPRETERS = new RegExp(`^(?:${INTERPRETER_NAMES})[\\d.]*$`, 'i');
