import type { Config } from '../../config/config.ts';
import type { Model } from '../../model/model.ts';
import type { CommandSettings } from '../../tools/command/command-settings.ts';
import type { ShownReasoning } from '../items/shown-reasoning.ts';
import type { Instructions } from '../prompt/instructions.ts';

/** What a loaded thread works with and does not store: it is made anew from the configuration at each load. */
export interface ThreadConfiguration {
  /** The settings in effect when the thread was loaded. */
  config: Config;
  model: Model;
  instructions: Instructions;
  commands: CommandSettings;
  /** Whether the thread may have a goal. */
  goals: boolean;
  /** Whether the model has the tool that asks for permissions. */
  asksForPermissions: boolean;
  /** How long an answer to a question may take; null: as long as it does. */
  approvalTimeoutMs: number | null;
  /** Whether the model may look at pictures of the machine. */
  viewImage: boolean;
  shownReasoning: ShownReasoning;
  verbosity: string | null;
  /** In tokens; null: unknown. */
  contextWindow: number | null;
}
