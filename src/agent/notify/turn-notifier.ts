import { type Clock, sleep } from '../../base/clock.ts';
import { type Env, setVariables } from '../../base/env.ts';
import type { Log } from '../../base/log.ts';
import { cutText } from '../../base/text/cut-text.ts';
import { readOr } from '../../config/toml/config-error.ts';
import type { UntimedItem } from '../../protocol/generated/types.ts';
import { type Processes, ProcessStartError } from '../../sandbox/processes/processes.ts';
import { spawnSource } from '../../store/spawn-source.ts';
import type { ThreadRecord } from '../../store/thread-record.ts';
import type { StoredTurn, ThreadStore } from '../../store/thread-store.ts';
import type { ClientChannel } from '../client-channel.ts';
import type { ThreadConfiguration } from '../settings/thread-configuration.ts';

/** How long a program may run, and how many may run at a time. */
const RUN_MS_MAX = 60_000;
const RUNNING_MAX = 16;
/** How long the end of the server waits for programs that run. */
const LAST_MS_MAX = 1_000;
/**
 * The most of a message that a program gets: the system limits the length of an argument to 128
 * KiB.
 */
const MESSAGE_CHARS_MAX = 8_000;
/** Other turns may have begun since the one that has ended. */
const TURNS_READ = 5;

interface NotifierDeps {
  store: Pick<ThreadStore, 'listTurns'>;
  clients: Pick<ClientChannel, 'publish'>;
  processes: Pick<Processes, 'start'>;
  clock: Clock;
  env: Env;
  /** The server's working directory, in which the programs run. */
  cwd: string;
  log: Log;
  /**
   * Whether the clock is simulated. Then no program runs: the server could not tell how long it
   * takes.
   */
  isSimulated: boolean;
}

interface NotifyingThread {
  id: string;
  record: ThreadRecord;
  configuration: Pick<ThreadConfiguration, 'config'>;
}

/**
 * Runs the program of `notify` in config.toml after each completed turn of a thread, with a
 * description of the turn as its last argument.
 */
export class TurnNotifier {
  readonly #deps: NotifierDeps;
  readonly #running = new Set<Promise<void>>();
  /** The programs whose failure clients know. */
  readonly #told = new Set<string>();

  constructor(deps: NotifierDeps) {
    this.#deps = deps;
  }

  /**
   * Called when the end of a turn has been announced. Null: its thread is not loaded any more.
   * Returns at once, and never throws.
   */
  turnEnded(thread: NotifyingThread | null, turnId: string): void {
    if (thread === null) return;
    const { id, record, configuration } = thread;
    const { config } = configuration;
    if (this.#deps.isSimulated) return;
    // Only users of the setting pay for it. An invalid one is told in a `configWarning`.
    if (
      config.values.notify === undefined ||
      spawnSource(record.source) !== null ||
      this.#running.size >= RUNNING_MAX
    )
      return;
    const run = this.#notify({ id, record, configuration }, turnId).catch((error: unknown) => {
      this.#deps.log.error(
        { err: error, threadId: id, turnId },
        'running the program of notify failed',
      );
    });
    this.#running.add(run);
    void run.finally(() => this.#running.delete(run));
  }

  /** Resolves when the programs that run now have ended, or a second has passed. */
  async settled(): Promise<void> {
    if (this.#running.size === 0) return;
    const allEnded = new AbortController();
    void Promise.all(this.#running).then(() => allEnded.abort());
    await sleep(this.#deps.clock, LAST_MS_MAX, allEnded.signal);
  }

  async #notify({ id, record, configuration }: NotifyingThread, turnId: string): Promise<void> {
    const { store, processes, clock, env, cwd } = this.#deps;
    const argv = readOr(
      () => configuration.config.get('notify'),
      () => null,
    );
    if (argv === null) return;
    const { data } = await store.listTurns(id, {
      direction: 'desc',
      limit: TURNS_READ,
      view: 'summary',
    });
    const turn = data.find((one) => one.id === turnId);
    if (turn?.status !== 'completed') return;
    try {
      const running = await processes.start(
        {
          argv: [...argv, JSON.stringify(description(turn, record))],
          cwd,
          env: setVariables(env),
          bounds: null,
          startedFor: { of: '`notify`', kind: 'configured', argv },
          owner: ['notify', id, turnId],
          input: false,
          terminal: null,
        },
        () => {},
      );
      const release = running.attend(RUN_MS_MAX);
      const timer = clock.setTimer(() => void running.kill(), RUN_MS_MAX);
      await running.ended;
      timer.clear();
      release();
      await running.kill();
    } catch (error) {
      if (!(error instanceof ProcessStartError)) throw error;
      this.#tell(id, argv, error);
    }
  }

  /** Once for each program. */
  #tell(threadId: string, argv: readonly string[], { message }: ProcessStartError): void {
    const program = JSON.stringify(argv);
    if (this.#told.has(program)) return;
    this.#told.add(program);
    const text = `The program that notify names cannot be started: ${message}. Correct notify in config.toml, or remove it.`;
    this.#deps.clients.publish({ threadId }, 'warning', { threadId, message: text });
  }
}

/** The argument, in the form that programs know from other agents. */
function description(
  { id, items }: StoredTurn,
  { id: threadId, settings, originator }: ThreadRecord,
): Record<string, unknown> {
  return {
    type: 'agent-turn-complete',
    'thread-id': threadId,
    'turn-id': id,
    cwd: settings.cwd,
    client: originator,
    'input-messages': items.flatMap(inputText),
    'last-assistant-message': items.map(agentText).findLast((text) => text !== null) ?? null,
  };
}

function inputText(item: UntimedItem): string[] {
  if (item.type !== 'userMessage') return [];
  const texts = item.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length === 0 ? [] : [cutText(texts.join('\n'), MESSAGE_CHARS_MAX)];
}

function agentText(item: UntimedItem): string | null {
  return item.type === 'agentMessage' ? cutText(item.text, MESSAGE_CHARS_MAX) : null;
}
