import { parseArgs } from 'node:util';

export const HELP = `npm run demo [-- OPTIONS]

Shows a session with heddle: turns, a kill -9, a fork, a command, a patch, an approval, a guardian, an agent.
It runs in a temporary folder, and checks all that it shows. The embedded model answers: no network, no costs.

  --wire             show every message between client and server, too
  --model NAME       ask this model, which can cost money: of OpenAI, with the key in OPENAI_API_KEY,
                     or of the provider that -c names
  -c, --config KEY=VALUE
                     a setting of heddle for --model, such as -c model_provider=ollama
  -h, --help         print this
`;

export interface DemoOptions {
  help: boolean;
  wire: boolean;
  /** Null: the embedded model. */
  model: string | null;
  /** Settings for heddle, as KEY=VALUE. */
  settings: string[];
}

/** The command line is wrong. The message is one line. */
export class DemoUsageError extends Error {}

/** Throws a DemoUsageError. */
export function demoOptions(args: string[]): DemoOptions {
  const { help = false, wire = false, model = null, config = [] } = valuesOf(args);
  if (model === '') throw usageError('--model requires the name of a model');
  if (model === null && config.length > 0)
    throw usageError('-c needs --model NAME, which asks for another model than the embedded one');
  return {
    help,
    wire,
    model,
    settings: model === null ? EMBEDDED : [...config, `model=${JSON.stringify(model)}`],
  };
}

/** Nothing else decides which model answers: no key, no configuration of the system. */
const EMBEDDED = ['model_provider="scripted"', 'model_providers.scripted.wire_api="scripted"'];

function valuesOf(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        wire: { type: 'boolean' },
        model: { type: 'string' },
        config: { type: 'string', short: 'c', multiple: true },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    if (
      !(
        error instanceof Error &&
        'code' in error &&
        String(error.code).startsWith('ERR_PARSE_ARGS_')
      )
    )
      throw error;
    // The other sentences are about the syntax of options in general.
    const [first = ''] = error.message.split(/\.\s|\n/);
    throw usageError(first.replace(/\.$/, ''));
  }
}

function usageError(problem: string): DemoUsageError {
  return new DemoUsageError(`${problem}. Options: --wire, --model NAME, -c KEY=VALUE, --help`);
}
