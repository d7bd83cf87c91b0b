import type { ChildProcess } from 'node:child_process';
import type { ProcessMarks } from './process-mark.ts';
import { ProcessStartError } from './processes.ts';
import { spawnNow } from './spawn-child.ts';

/**
 * Waits for a line, or for the end of its input. A line ends it. The end of the input means that
 * the server has died: then it kills every process with the server's marks ($1 in the environment,
 * $2 in the limits) until none is left. It asks them to end first, so that they can remove their
 * locks. It changes to `/` so that it keeps no folder busy, and ignores signals that are sent to a
 * whole process group.
 */
const SCRIPT = `
trap '' HUP INT QUIT TERM TSTP TTIN TTOU PIPE USR1 USR2
PATH=/usr/bin:/bin:/usr/sbin:/sbin:$PATH
cd /
read -r _ && exit 0
marked() {
  if [ -r /proc/self/environ ]; then
    { grep -lsF "HEDDLE_COMMAND=$1" /proc/[0-9]*/environ
      grep -lsE "^Max file locks +$2[0-9]{6} " /proc/[0-9]*/limits
    } | while IFS=/ read -r _ _ pid _; do
      read -r stat 2>/dev/null < /proc/$pid/stat || continue
      case \${stat##*) } in [ZX]*) ;; *) echo "$pid" ;; esac
    done | sort -u
  else
    ps -A -E -ww -o pid= -o stat= -o command= | grep -F "HEDDLE_COMMAND=$1" | while read -r pid stat command; do
      case $stat:$command in Z*|*:grep*) ;; *) echo "$pid" ;; esac
    done
  fi
}
for signal in TERM HUP; do
  pids=$(marked "$1" "$2")
  [ -z "$pids" ] || kill -$signal $pids 2>/dev/null
  tries=0
  while [ -n "$pids" ] && [ $tries -lt 3 ] && sleep 0.1 2>/dev/null; do
    tries=$((tries + 1))
    pids=$(marked "$1" "$2")
  done
done
seen=
for pass in 1 2 3 4 5 6 7 8 9 10; do
  fresh=
  for pid in $(marked "$1" "$2"); do
    case " $seen " in *" $pid "*) ;; *) kill -STOP "$pid" 2>/dev/null; fresh=1; seen="$seen $pid" ;; esac
  done
  [ -n "$fresh" ] || break
done
tries=0
while pids=$(marked "$1" "$2"); [ -n "$pids" ] && [ $tries -lt 100 ]; do
  tries=$((tries + 1))
  kill -KILL $pids 2>/dev/null
  [ $tries -lt 5 ] || sleep 0.1 2>/dev/null || sleep 1
done
`;

/**
 * A process that outlives the server, and kills the commands that are left if the server died
 * before it could. Until then it sleeps.
 */
export class Watchdog {
  readonly #marks: ProcessMarks;
  readonly #path: string;
  #child: ChildProcess | null = null;

  /** `path` is searched for the programs that it needs, after the system's own folders. */
  constructor(marks: ProcessMarks, path: string) {
    this.#marks = marks;
    this.#path = path;
  }

  /**
   * Starts the watchdog unless it is running. `hidden` are file descriptors of this process that it
   * would inherit. Throws nothing if it cannot be started: it is needed only if the server dies.
   */
  watch(hidden: ReadonlySet<number>): void {
    if (this.#child !== null) return;
    const child = this.#spawn(hidden);
    if (child === null) return;
    this.#child = child;
    const forget = () => {
      if (this.#child === child) this.#child = null;
    };
    child.on('error', forget).once('exit', forget);
    child.stdin?.on('error', () => {});
    child.unref();
    const { stdin } = child;
    if (stdin !== null && 'unref' in stdin && typeof stdin.unref === 'function') stdin.unref();
  }

  /** Returns null if it cannot be started now. */
  #spawn(hidden: ReadonlySet<number>): ChildProcess | null {
    const { prefix, lockLimitPrefix } = this.#marks;
    const argv = ['/bin/sh', '-c', SCRIPT, 'heddle-watchdog', prefix, String(lockLimitPrefix)];
    try {
      return spawnNow({
        argv,
        cwd: '/',
        env: { PATH: this.#path },
        stdio: ['pipe', 'ignore', 'ignore'],
        hidden,
      });
    } catch (error) {
      if (error instanceof ProcessStartError) return null;
      throw error;
    }
  }

  /** Ends the watchdog, because nothing is left to kill. */
  dismiss(): void {
    this.#child?.stdin?.end('\n');
    this.#child = null;
  }
}
