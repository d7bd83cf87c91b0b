import { type Place, place } from '../support.ts';

/** The model is the embedded one: it does what the prompt says. */
const CONFIG =
  'model_provider = "embedded"\nsandbox_mode = "danger-full-access"\napproval_policy = "untrusted"\n';

/** A home for `heddle wire`, with further lines of its config.toml. */
export function scripted(more = ''): Place {
  return place({ 'config.toml': `${CONFIG}${more}` });
}
