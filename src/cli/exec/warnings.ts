import type { Log } from '../../base/log.ts';
import { showText } from '../../base/text/show-text.ts';
import type { Client } from '../../client/client.ts';
import type { Screen } from './screen.ts';

/** More warnings about the configuration are one line. */
const CONFIG_WARNINGS_MAX = 2;

interface WarningsDeps {
  /** Null: nothing is shown. */
  screen: Screen | null;
  log: Log;
}

interface Warning {
  summary: string;
  details: string | null;
  isOfConfig: boolean;
}

/**
 * Shows each warning of the server once, and logs all. Those that come before `show` wait for it: a
 * refusal of the thread says the same. Later ones about the configuration wait for `end`: they come
 * together. If there are many of these, one line counts them.
 */
export class Warnings {
  readonly #screen: Screen | null;
  readonly #log: Log;
  readonly #known = new Set<string>();
  readonly #wereReady = new Set<string>();
  #isShown = false;
  #waiting: Warning[] = [];

  constructor(client: Client, { screen, log }: WarningsDeps) {
    this.#screen = screen;
    this.#log = log;
    client.on('configWarning', ({ summary, details }) =>
      this.#take(summary, { details, isOfConfig: true }),
    );
    client.on('deprecationNotice', ({ summary, details }) =>
      this.#take(summary, { details, isOfConfig: true }),
    );
    client.on('warning', ({ message }) => this.#take(message));
    client.on('guardianWarning', ({ message }) => this.#take(message));
    client.on('mcpServer/startupStatus/updated', ({ name, status, error, failureReason }) => {
      if (status === 'ready') this.#wereReady.add(name);
      if (status !== 'failed') return;
      const details =
        failureReason === 'reauthenticationRequired'
          ? `Log in with: heddle mcp login ${name}`
          : null;
      const what = this.#wereReady.has(name)
        ? 'has failed, so its calls fail until it runs again'
        : 'did not start, so its tools are missing';
      this.#take(`the MCP server ${name} ${what}: ${error ?? 'the reason is not known'}`, {
        details,
      });
    });
  }

  show(): void {
    this.#isShown = true;
    this.#flush();
  }

  /** The server has closed the connection. */
  end(): void {
    if (this.#isShown) this.#flush();
  }

  #take(
    summary: string,
    { details = null, isOfConfig = false }: Partial<Omit<Warning, 'summary'>> = {},
  ): void {
    // The server says some of them again about the thread, as one text.
    const text = details === null ? summary : `${summary}. ${details}`;
    if (this.#known.has(text)) return;
    this.#known.add(text);
    // Others can have the output of a program.
    this.#log[isOfConfig ? 'warn' : 'debug']({ summary, details }, 'warning of the server');
    this.#waiting.push({ summary, details, isOfConfig });
    if (this.#isShown && !isOfConfig) this.#flush();
  }

  #flush(): void {
    const ofConfig = this.#waiting.filter(({ isOfConfig }) => isOfConfig);
    const isMany = ofConfig.length > CONFIG_WARNINGS_MAX;
    const others = isMany ? this.#waiting.filter(({ isOfConfig }) => !isOfConfig) : this.#waiting;
    this.#waiting = [];
    if (isMany)
      this.#print(
        `there are ${ofConfig.length} warnings about the configuration: heddle doctor prints them, --log-level warn logs them`,
      );
    for (const { summary, details } of others) {
      // Several warnings may have the same advice.
      const isSaid = details === null || others.some((other) => other.summary.endsWith(details));
      this.#print(isSaid ? summary : `${summary}\n  ${details}`);
    }
  }

  #print(text: string): void {
    this.#screen?.note(`warning: ${showText(text, { multiline: true })}`);
  }
}
