import { type Clock, systemClock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { ModelScript } from '../../protocol/generated/model-script.ts';
import { paced } from '../embedded/answer-writer.ts';
import type { Model } from '../model.ts';
import { answerByScript } from './answer-by-script.ts';
import { readScript } from './read-script.ts';
import { ScriptRun } from './script-run.ts';

export interface ScriptedModelOptions {
  /** What `wait` and `delay` go by. */
  clock?: Clock;
  /** Told of requests that no response matches, without what they say. */
  log?: Log;
  /** How errors and reports call the script. */
  file?: string;
}

/** A model that answers by a script. All that asks it shares the script: a response that was given to one is used up. */
export interface ScriptedModel extends Model {
  /** Requests without a response and responses not used, up to now, as a text of several lines; null: none. */
  report(): string | null;
  /** Throws an Error with the report where there is one. To be called at a test's end. */
  assertFollowed(): void;
}

/**
 * Makes a model that answers by a script, given as YAML or JSON text or as data; docs/scripted-model.md describes it. A
 * request that no response matches fails its turn. The same script and requests give the same events in the same order.
 * Throws a ScriptError that says all that is wrong with the script.
 */
export function createScriptedModel(script: string | ModelScript, options: ScriptedModelOptions = {}): ScriptedModel {
  const { clock = systemClock, log, file = 'the model script' } = options;
  const run = new ScriptRun(readScript(script, file));
  return {
    stream(request, signal) {
      const take = () => {
        const taken = run.take(request);
        if (typeof taken === 'string') log?.warn({ threadId: request.promptCacheKey }, 'no response of the model script matches a request');
        return taken;
      };
      return paced(answerByScript(request, { take, now: () => clock.now() }), clock, signal);
    },
    report: () => run.report(),
    assertFollowed() {
      const report = run.report();
      if (report !== null) throw new Error(report);
    },
  };
}
