import { type Place, place } from '../support.ts';

/** The config.toml of the tests: the model is the embedded one, which does what the prompt says. */
export const CONFIG =
  'model_provider = "scripted"\nsandbox_mode = "danger-full-access"\napproval_policy = "untrusted"\n';

/** A home for `heddle exec`, with further lines of its config.toml. */
export function scripted(more = ''): Place {
  return place({ 'config.toml': `${CONFIG}${more}` });
}

/** A prompt that calls a tool, and then does something else. */
export function call(tool: string, args: object, then = 'say done'): string {
  return `call ${tool} ${JSON.stringify(args)}\n${then}`;
}
