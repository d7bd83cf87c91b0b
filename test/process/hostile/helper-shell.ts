import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const END = 'end of the script';

/**
 * A shell that runs scripts for the test, one after the other. Starting a process costs the shell
 * much less than the test.
 */
export class HelperShell {
  readonly #shell: ChildProcess;
  readonly #waiting: { lines: string[]; resolve: (lines: string[]) => void }[] = [];

  constructor() {
    const shell = spawn('/bin/sh', [], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#shell = shell;
    shell.stdin.on('error', () => {});
    createInterface(shell.stdout).on('line', (line) => {
      const [first] = this.#waiting;
      if (line !== END) first?.lines.push(line);
      else this.#waiting.shift()?.resolve(first?.lines ?? []);
    });
  }

  /** Returns the lines that a script prints. The shell must be able to parse the script. */
  run(script: string): Promise<string[]> {
    return new Promise((resolve) => {
      this.#waiting.push({ lines: [], resolve });
      this.#shell.stdin?.write(`{ ${script}; } 2>&1; echo; echo '${END}'\n`);
    });
  }

  end(): void {
    this.#shell.kill('SIGKILL');
  }
}
