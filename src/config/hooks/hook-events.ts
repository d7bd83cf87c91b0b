import type { HookEventName } from '../../protocol/generated/types.ts';

/** How the output of an event's hooks counts. */
export interface HookEvent {
  name: HookEventName;
  /** The name in files, and in the input of hooks. */
  label: string;
  /** The part of a hook that its matcher is compared with. Null: the event has no matchers. */
  matches: 'tool' | 'source' | 'trigger' | 'agentType' | 'reason' | null;
  /**
   * Whether exit code 2, `decision: "block"` and a prompt that is not ok refuse what is about to be
   * done, or to end.
   */
  refuses: boolean;
  /** Whether a refusal without a reason has no effect: there is nothing left to prevent. */
  needsReason: boolean;
  /**
   * Whether a model's check that fails counts as not met, because something would be done or read
   * unchecked. Not where the work goes on after a refusal: there it ends.
   */
  failsShut: boolean;
  /** Whether `continue: false` ends the work. False: it is an error. */
  canStop: boolean;
  /** Whether the hook can give the model additional context. */
  givesContext: boolean;
  /** The meaning of output that is not JSON. `invalid`: it is an error. */
  plainText: 'context' | 'ignored' | 'invalid';
  scope: 'thread' | 'turn';
  timeoutSecDefault: number;
}

const LONG_SEC = 600;
/** Somebody waits for the end of the turn, or of the server. */
const SHORT_SEC = 1;

const OBSERVES = {
  matches: null,
  refuses: false,
  needsReason: false,
  failsShut: false,
  canStop: false,
  givesContext: false,
  plainText: 'ignored',
} as const;

function event(name: HookEventName, facts: Partial<Omit<HookEvent, 'name' | 'label'>>): HookEvent {
  const label = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return { ...OBSERVES, scope: 'turn', timeoutSecDefault: LONG_SEC, ...facts, name, label };
}

/** The events of hooks, in the order in which they are listed. */
export const HOOK_EVENTS: readonly HookEvent[] = [
  event('preModelRequest', { refuses: true, failsShut: true, canStop: true }),
  event('postModelRequest', {}),
  event('preToolUse', { matches: 'tool', refuses: true, failsShut: true, givesContext: true }),
  event('permissionRequest', { matches: 'tool', refuses: true, failsShut: true }),
  event('postToolUse', {
    matches: 'tool',
    refuses: true,
    needsReason: true,
    failsShut: true,
    canStop: true,
    givesContext: true,
  }),
  event('preCompact', { matches: 'trigger', failsShut: true, canStop: true }),
  event('postCompact', { matches: 'trigger', failsShut: true, canStop: true }),
  event('sessionStart', {
    matches: 'source',
    failsShut: true,
    canStop: true,
    givesContext: true,
    plainText: 'context',
    scope: 'thread',
  }),
  event('sessionEnd', { matches: 'reason', scope: 'thread', timeoutSecDefault: SHORT_SEC }),
  event('userPromptSubmit', {
    refuses: true,
    failsShut: true,
    canStop: true,
    givesContext: true,
    plainText: 'context',
  }),
  event('subagentStart', {
    matches: 'agentType',
    failsShut: true,
    canStop: true,
    givesContext: true,
    plainText: 'context',
    scope: 'thread',
  }),
  event('subagentStop', {
    matches: 'agentType',
    refuses: true,
    needsReason: true,
    canStop: true,
    plainText: 'invalid',
  }),
  event('stop', { refuses: true, needsReason: true, canStop: true, plainText: 'invalid' }),
  event('interrupt', { timeoutSecDefault: SHORT_SEC }),
];

const BY_NAME = new Map(HOOK_EVENTS.map((each) => [each.name, each]));

export function hookEvent(name: HookEventName): HookEvent {
  const found = BY_NAME.get(name);
  if (found === undefined) throw new Error(`there is no event ${name}`);
  return found;
}

/** The name of an event with other separators: `pre_tool_use`, `pre-tool-use`. */
export function separatedName(name: HookEventName, separator: '_' | '-'): string {
  return name.replace(/[A-Z]/g, (letter) => `${separator}${letter.toLowerCase()}`);
}
