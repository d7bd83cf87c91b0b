import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../../config/config.ts';
import type { McpSettings } from '../../config/mcp/mcp-settings.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { ThreadPatch, ThreadSettings } from '../../store/thread-record.ts';
import type { ThreadContext } from '../thread-context.ts';
import { type ConfiguredSettings, confined } from './confined-settings.ts';
import { settingsChange } from './settings-change.ts';
import type { ThreadConfiguration } from './thread-configuration.ts';
import { TURN_OVERRIDES, type TurnOverrides, withTurnOverrides } from './turn-overrides.ts';

/** The changes of a loaded thread's settings. */
export class SettingsChanges {
  readonly #thread: Pick<ThreadContext, 'state' | 'beginnings' | 'services'>;
  readonly #update: (patch: ThreadPatch) => Promise<void>;
  /** The settings that stay as they are without overrides, by this configuration. */
  #plain: { settings: ThreadSettings; config: Config } | null = null;

  /** `update`: stores changes of the record, and keeps them. */
  constructor(
    thread: Pick<ThreadContext, 'state' | 'beginnings' | 'services'>,
    update: (patch: ThreadPatch) => Promise<void>,
  ) {
    this.#thread = thread;
    this.#update = update;
  }

  /** The settings with a client's changes: the same object if they stay as they are. */
  overridden(settings: ThreadSettings, overrides: TurnOverrides): ThreadSettings {
    const { state, services } = this.#thread;
    const serverCwd = services.machine.cwd;
    const { config } = state.configuration;
    const isPlain =
      overrides.serviceTier === undefined &&
      TURN_OVERRIDES.every((name) => (overrides[name] ?? null) === null);
    if (isPlain && this.#plain?.settings === settings && this.#plain.config === config)
      return settings;
    const changed = withTurnOverrides(settings, overrides, { serverCwd, config });
    if (!isDeepStrictEqual(changed, settings)) return changed;
    if (isPlain) this.#plain = { settings, config };
    return settings;
  }

  /**
   * Replaces the settings and the configuration, unless a turn runs. Returns the announcements of
   * the change; null: a turn runs, and nothing has changed.
   */
  reconfigure(
    configure: (
      last: ThreadSettings,
    ) => Promise<{ settings: ThreadSettings; configuration: ThreadConfiguration }>,
  ): Promise<Announcement[] | null> {
    const { beginnings, state } = this.#thread;
    return beginnings.change(async () => {
      if (state.turn !== null) return null;
      const { settings, configuration } = await configure(state.settings);
      const announcements = settingsChange(state.id, state.settings, settings);
      await this.#update({ settings });
      state.configuration = configuration;
      return announcements;
    });
  }

  /** Replaces the settings of MCP servers, also while a turn runs. */
  reconfigureMcp(read: (last: ThreadConfiguration['mcp']) => Promise<McpSettings>): Promise<void> {
    const { beginnings, state } = this.#thread;
    return beginnings.change(async () => {
      const { mcp } = state.configuration;
      mcp.settings = await read(mcp);
    });
  }

  /**
   * Changes the settings of the next turn; a running turn keeps its own. Returns the announcements
   * of the change.
   */
  change(changed: (settings: ThreadSettings) => ThreadSettings): Promise<Announcement[]> {
    return this.#thread.beginnings.change(() => this.#change(changed));
  }

  /**
   * Sees to it that the thread is allowed no more than `owner`: its next turn, and from now on its
   * running one.
   */
  confine(owner: ConfiguredSettings): Promise<Announcement[]> {
    const { beginnings, state } = this.#thread;
    return beginnings.change(() => {
      const { turn, configuration } = state;
      if (turn !== null)
        turn.settings = confined({ settings: turn.settings, configuration }, owner);
      return this.#change((settings) => confined({ settings, configuration }, owner));
    });
  }

  /**
   * Changes the settings of a running turn's next model requests. Returns false if it does not run,
   * or is a review.
   */
  changeTurn(turnId: string, overrides: TurnOverrides): boolean {
    const { turn } = this.#thread.state;
    if (turn?.id !== turnId || turn.kind === 'review') return false;
    turn.settings = this.overridden(turn.settings, overrides);
    turn.changes.push(overrides);
    return true;
  }

  async #change(changed: (settings: ThreadSettings) => ThreadSettings): Promise<Announcement[]> {
    const { state } = this.#thread;
    const settings = changed(state.settings);
    const announcements = settingsChange(state.id, state.settings, settings);
    if (announcements.length > 0) await this.#update({ settings });
    return announcements;
  }
}
