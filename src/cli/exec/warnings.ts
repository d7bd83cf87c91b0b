import { showText } from '../../base/text/show-text.ts';
import type { Client } from '../../client/client.ts';
import type { Screen } from './screen.ts';

/**
 * Shows each warning of the server once. Those that come before `show` wait for it: a refusal of
 * the thread says the same.
 */
export class Warnings {
  readonly #screen: Screen | null;
  readonly #shown = new Set<string>();
  readonly #wereReady = new Set<string>();
  #waiting: string[] | null = [];

  /** Without a screen, it shows nothing. */
  constructor(client: Client, screen: Screen | null) {
    this.#screen = screen;
    client.on('configWarning', ({ summary, details }) => this.#take(summary, details));
    client.on('warning', ({ message }) => this.#take(message, null));
    client.on('guardianWarning', ({ message }) => this.#take(message, null));
    client.on('mcpServer/startupStatus/updated', ({ name, status, error, failureReason }) => {
      if (status === 'ready') this.#wereReady.add(name);
      if (status !== 'failed') return;
      const fix =
        failureReason === 'reauthenticationRequired'
          ? `Log in with: heddle mcp login ${name}`
          : null;
      const what = this.#wereReady.has(name)
        ? 'has failed, so its calls fail until it runs again'
        : 'did not start, so its tools are missing';
      this.#take(`the MCP server ${name} ${what}: ${error ?? 'the reason is not known'}`, fix);
    });
    client.on('deprecationNotice', ({ summary, details }) => this.#take(summary, details));
  }

  show(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const text of waiting) this.#print(text);
  }

  #take(summary: string, details: string | null): void {
    const text = details === null ? summary : `${summary}\n  ${details}`;
    if (this.#waiting === null) this.#print(text);
    else this.#waiting.push(text);
  }

  #print(text: string): void {
    if (this.#screen === null || this.#shown.has(text)) return;
    this.#shown.add(text);
    this.#screen.note(`warning: ${showText(text, { multiline: true })}`);
  }
}
