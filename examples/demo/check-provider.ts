import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { showText } from 'heddle/client';

const EXECUTABLE = join(import.meta.dirname, '..', '..', 'bin', 'heddle.js');
/** heddle asks a provider for five seconds at most. */
const CHECK_MS_MAX = 12_000;
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;
const WITHOUT = 'Or leave out --model: the embedded model needs neither a key nor a network.';

/** A part of the output of `heddle doctor --json`. */
interface Check {
  name: string;
  summary: string;
  facts: { api?: string };
  problems: { severity: string; message: string; fix: string | null }[];
}

export interface CheckOptions {
  home: string;
  cwd: string;
  /** KEY=VALUE. */
  settings: readonly string[];
}

/**
 * Asks the provider that the settings choose whether it can be reached and takes the key. Returns
 * its name, model and URL, and warnings about the settings. Rejects within 15 seconds, with the
 * reason and what to do about it.
 */
export async function checkProvider({
  home,
  cwd,
  settings,
}: CheckOptions): Promise<{ summary: string; warnings: string[] }> {
  const options = settings.flatMap((setting) => ['-c', setting]);
  // The doctor also starts the user's shell, whose start files may be slow.
  const env = { ...process.env, HEDDLE_HOME: home, CODEX_HOME: home, HOME: cwd };
  const output = await doctorOutput([EXECUTABLE, 'doctor', '--json', ...options], { cwd, env });
  const { checks } = JSON.parse(output) as { checks: Check[] };
  const [configuration, provider] = ['configuration', 'provider'].map((wanted) =>
    checks.find(({ name }) => name === wanted),
  );
  if (configuration === undefined || provider === undefined)
    throw new Error('heddle doctor says nothing about the provider');
  const problems = [...configuration.problems, ...provider.problems];
  const problem = problems.find(({ severity }) => severity === 'error');
  if (problem !== undefined) throw unusable(problem.message);
  if (provider.facts.api === 'scripted' || provider.facts.api === 'embedded')
    throw new Error(
      `--model needs a provider: set OPENAI_API_KEY, or choose one, such as -c model_provider=ollama. ${WITHOUT}`,
    );
  return {
    summary: showText(provider.summary),
    warnings: problems.map(({ message }) => showText(message)),
  };
}

function unusable(reason: string, cause?: unknown): Error {
  const sentence = showText(reason.trim()).replace(/(?<![.!?])$/, '.');
  return new Error(
    `the model cannot be asked: ${sentence} Check the key, the network and the settings of -c. ${WITHOUT}`,
    { cause },
  );
}

/** The doctor ends with an error also if other things than the provider are missing. */
async function doctorOutput(
  args: string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<string> {
  try {
    const limits = {
      timeout: CHECK_MS_MAX,
      killSignal: 'SIGKILL',
      maxBuffer: OUTPUT_BYTES_MAX,
    } as const;
    return (await promisify(execFile)(process.execPath, args, { ...options, ...limits })).stdout;
  } catch (error) {
    const { stdout, stderr, killed } = error as {
      stdout?: string;
      stderr?: string;
      killed?: boolean;
    };
    if (killed === true)
      throw new Error(`the provider was not checked within ${CHECK_MS_MAX / 1000} s. ${WITHOUT}`, {
        cause: error,
      });
    if (stdout) return stdout;
    throw unusable(reasonIn(stderr ?? '') || 'heddle doctor failed', error);
  }
}

/** The reason in `heddle: REASON (see "heddle help doctor")`. */
function reasonIn(stderr: string): string {
  const lines = stderr.trim().split('\n');
  const line = lines.find((one) => one.startsWith('heddle: ')) ?? lines[0] ?? '';
  return line.replace(/^heddle: /, '').replace(/ \(see "[^"]*"\)$/, '');
}
