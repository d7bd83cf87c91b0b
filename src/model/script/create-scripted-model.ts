import { type Clock, systemClock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { KIND, requireOptions } from '../../base/text/require-options.ts';
import type { ModelScript } from '../../protocol/generated/model-script.ts';
import { pacedEvents } from '../embedded/answer-writer.ts';
import type { Model } from '../model.ts';
import { answerByScript } from './answer-by-script.ts';
import { readScript } from './read-script.ts';
import { ScriptRun } from './script-run.ts';

export interface ScriptedModelOptions {
  /** The clock for `wait` and `delay`. */
  clock?: Clock;
  /** Logs requests that no response matches, without their content. */
  log?: Log;
  /** The script's name in errors and reports. */
  file?: string;
}

/**
 * A model that answers by a script. All threads share the script: a response that one thread got is
 * used up.
 */
export interface ScriptedModel extends Model {
  /**
   * The requests without a response and the unused responses so far, as a string of several lines;
   * null if there are none.
   */
  report(): string | null;
  /** Throws an Error with the report if there is one. Call it at the end of a test. */
  assertFollowed(): void;
}

/**
 * Creates a model that answers by a script, given as YAML or JSON text or as data;
 * docs/scripted-model.md describes it. A request that no response matches fails its turn. The same
 * script and requests give the same events in the same order. Throws a ScriptError with all
 * problems of the script.
 */
export function createScriptedModel(
  script: string | ModelScript,
  options: ScriptedModelOptions = {},
): ScriptedModel {
  requireOptions<ScriptedModelOptions>('createScriptedModel', options, {
    clock: KIND.clock,
    log: KIND.log,
    file: KIND.string,
  });
  const { clock = systemClock, log, file = 'the model script' } = options;
  return modelOf(new ScriptRun(readScript(script, file)), log, clock);
}

function modelOf(run: ScriptRun, log: Log | undefined, clock: Clock): ScriptedModel {
  return {
    stream(request, signal) {
      const take = () => {
        const taken = run.take(request);
        if (typeof taken === 'string')
          log?.warn(
            { threadId: request.promptCacheKey },
            'no response in the model script matches a request',
          );
        return taken;
      };
      return pacedEvents(answerByScript(request, { take, now: () => clock.now() }), clock, signal);
    },
    report: () => run.report(),
    assertFollowed() {
      const report = run.report();
      if (report !== null) throw new Error(report);
    },
    withClock: (other) => modelOf(run, log, other),
  };
}
