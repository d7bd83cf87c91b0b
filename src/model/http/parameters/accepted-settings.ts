import type { ModelEvent, ModelRequest } from '../../model.ts';
import type { OptionalParameter } from './optional-parameter.ts';
import type { ReasoningSent } from './sent-settings.ts';

/** The most models of one provider whose settings are remembered. */
const MODELS_MAX = 100;
/** The most refused values of one model. */
const REFUSALS_MAX = 100;

/**
 * A parameter that the provider refused; `event` tells the user what that costs, if it costs
 * anything.
 */
export interface LeftOut {
  parameter: OptionalParameter;
  event: Extract<ModelEvent, { type: 'leftOut' }> | null;
}

/** The settings that the requests to one model follow. */
interface OfModel {
  reasoning: ReasoningSent;
  /** By parameter and value. */
  refused: Map<string, LeftOut>;
}

/** The settings with which the models of one provider have answered, as long as the server runs. */
export class AcceptedSettings {
  readonly #models = new Map<string, OfModel>();

  /** The settings that this request follows. */
  settingsFor(
    request: ModelRequest,
    parameters: readonly OptionalParameter[],
  ): { reasoning: ReasoningSent; leftOut: LeftOut[] } {
    const reasoning = this.#models.get(request.model)?.reasoning ?? 'full';
    return { reasoning, leftOut: this.#leftOutOf(request, parameters) };
  }

  /**
   * The parameters of this request that its model refuses. A word that was never sent for one is
   * not refused.
   */
  #leftOutOf(request: ModelRequest, parameters: readonly OptionalParameter[]): LeftOut[] {
    const refused = this.#models.get(request.model)?.refused;
    if (refused === undefined) return [];
    return parameters.flatMap((parameter) => refused.get(keyOf(parameter, request)) ?? []);
  }

  /**
   * To be called when the model answers a request: the refusals before it may have had another
   * cause until then.
   */
  answered(
    request: ModelRequest,
    { reasoning, leftOut }: { reasoning: ReasoningSent; leftOut: readonly LeftOut[] },
  ): void {
    const refused = this.#models.get(request.model)?.refused ?? new Map<string, LeftOut>();
    for (const each of leftOut) refused.set(keyOf(each.parameter, request), each);
    forgetOldest(refused, REFUSALS_MAX);
    this.#models.delete(request.model);
    this.#models.set(request.model, { reasoning, refused });
    forgetOldest(this.#models, MODELS_MAX);
  }
}

/** Words that users choose, such as an effort, are refused one by one. */
function keyOf({ name, value, loss }: OptionalParameter, request: ModelRequest): string {
  const sent = value(request, 'full');
  return loss !== null && typeof sent === 'string' ? `${name}=${sent}` : name;
}

function forgetOldest(map: Map<string, unknown>, max: number): void {
  for (const key of map.keys()) if (map.size > max) map.delete(key);
}
