import { isObject, type JsonObject, type JsonValue } from '../base/json-value.ts';

/**
 * How hooks see the calls of a tool: as a command or as a patch, whatever the name of the tool is;
 * or by its name, and matchers also know the other one.
 */
export type HookForm = 'command' | 'patch' | { otherName: string };

/** A call of the model to a tool. */
export interface ToolUse {
  tool: string;
  /** Null: the tool is in no namespace. */
  namespace: string | null;
  args: JsonValue;
  /** Absent: by its name. */
  hookForm?: HookForm;
}

/** A call as hooks see it. */
export interface HookCall {
  name: string;
  /** The names that matchers are compared with. */
  names: readonly string[];
  input: JsonObject;
}

/** The name of all tools that run commands, as hooks know it. */
const BASH = 'Bash';
/** Hooks that were written for other agents know `apply_patch` by these names. */
const PATCH_NAMES = ['apply_patch', 'Edit', 'Write'];

/**
 * How hooks see a call: commands and patches in the same form, whatever tool the model has used.
 */
export function hookCall({ tool, namespace, args, hookForm }: ToolUse): HookCall {
  if (hookForm === 'command')
    return { name: BASH, names: [BASH], input: { command: commandOf(tool, args) } };
  if (hookForm === 'patch')
    return { name: tool, names: PATCH_NAMES, input: { command: patchOf(args) } };
  const name = namespace === null ? tool : `${namespace}__${tool}`;
  const names = hookForm === undefined ? [name] : [name, hookForm.otherName];
  return { name, names, input: isObject(args) ? (args as JsonObject) : { input: args } };
}

/** The arguments of a call with this input from a hook, or why they cannot have it. */
export function withInput(
  { tool, args, hookForm }: ToolUse,
  input: JsonObject,
): { args: JsonValue } | { problem: string } {
  const isCommand = hookForm === 'command';
  if (!isCommand && hookForm !== 'patch')
    return { args: isObject(args) ? input : (input.input ?? null) };
  const { command } = input;
  if (typeof command !== 'string') return { problem: 'updatedInput has no string "command"' };
  if (!isCommand)
    return { args: isObject(args) ? { ...(args as JsonObject), input: command } : command };
  if (!isObject(args)) return { problem: 'the arguments of the call are not an object' };
  const given = args as JsonObject;
  if (tool === 'exec_command') return { args: { ...given, cmd: command } };
  return {
    args: { ...given, command: Array.isArray(given.command) ? ['bash', '-lc', command] : command },
  };
}

/** The justification that the model gave for a call; null: none. */
export function justificationOf({ args }: ToolUse): string | null {
  const justification = isObject(args) ? args.justification : null;
  return typeof justification === 'string' && justification !== '' ? justification : null;
}

/**
 * The command that the tool will run: it ignores other fields, so hooks must not see those in its
 * place.
 */
function commandOf(tool: string, args: JsonValue): string {
  if (!isObject(args)) return typeof args === 'string' ? args : '';
  const command = (tool === 'exec_command' ? args.cmd : args.command) ?? '';
  if (!Array.isArray(command)) return String(command);
  const words = command.map(String);
  const isScript =
    words.length === 3 &&
    /(^|\/)(ba|z|da|k)?sh$/.test(words[0] ?? '') &&
    /^-l?c$/.test(words[1] ?? '');
  return isScript ? (words[2] ?? '') : words.join(' ');
}

function patchOf(args: JsonValue): string {
  if (typeof args === 'string') return args;
  const input = isObject(args) ? (args.input ?? args.patch) : '';
  return typeof input === 'string' ? input : '';
}
