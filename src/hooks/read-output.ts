import { isObject, type JsonObject, strictJson } from '../base/json-value.ts';
import { cutText } from '../base/text/cut-text.ts';
import { suggestKey } from '../base/text/suggest-key.ts';
import type { HookEvent } from '../config/hooks/hook-events.ts';
import { OUTPUT_BYTES_MAX, type ProgramResult } from '../sandbox/run-program.ts';
import { entry, failedHook, type HookEffect, type HookResult } from './hook-result.ts';

/** The exit code with which a hook refuses. */
const REFUSES = 2;
const FIELDS = [
  'continue',
  'stopReason',
  'systemMessage',
  'decision',
  'reason',
  'hookSpecificOutput',
];
const SPECIFIC_FIELDS = [
  'additionalContext',
  'permissionDecision',
  'permissionDecisionReason',
  'updatedInput',
];
/** The most of stderr that tells why a hook failed, in UTF-16 units. */
const STDERR_CHARS_MAX = 2_000;

/**
 * Reads how the command of a hook ended: its exit code, and its output as JSON or as plain text.
 */
export function readOutput(event: HookEvent, result: ProgramResult): HookResult {
  if ('failure' in result) {
    const failed = failedHook(`${event.label} hook failed: ${result.failure}`);
    // Otherwise commands could switch a hook off by changing what it runs.
    return result.isRefused ? failedCheck(event, failed) : failed;
  }
  const { exitCode, stdout, stderr, isCut } = result;
  if (exitCode === REFUSES && event.refuses) return refused(event, stderr.trim());
  if (exitCode !== 0) {
    const why = stderr.trim();
    return failedHook(
      `hook exited with code ${exitCode}${why === '' ? '' : `: ${cutText(why, STDERR_CHARS_MAX)}`}`,
    );
  }
  return readHookText(event, stdout, isCut);
}

/** Reads the output of a hook that has succeeded. `isCut`: there was more of it. */
export function readHookText(
  event: HookEvent,
  output: string,
  isCut = output.length > OUTPUT_BYTES_MAX,
): HookResult {
  const text = output.trim();
  if (text === '') return { status: 'completed', entries: [], effect: {} };
  if (isJson(text))
    return isCut ? failedHook(`${event.label} hook printed too much JSON`) : readJson(event, text);
  switch (event.plainText) {
    case 'context':
      return { status: 'completed', entries: [entry('context', text)], effect: { context: text } };
    case 'ignored':
      return { status: 'completed', entries: [], effect: {} };
    case 'invalid':
      return failedHook(`the output of ${event.label} hooks must be empty or JSON`);
    default:
      return event.plainText satisfies never;
  }
}

function isJson(text: string): boolean {
  return /^\s*[{[]/.test(text);
}

/**
 * A hook that refuses. Without a reason, the events that can still prevent something refuse all the
 * same.
 */
function refused(event: HookEvent, reason: string): HookResult {
  if (reason === '' && event.needsReason)
    return failedHook(`${event.label} hook gave no reason, so it has no effect`);
  const text =
    reason === '' ? `A ${event.label} hook refused this without giving a reason.` : reason;
  return { status: 'blocked', entries: [entry('feedback', text)], effect: { refuse: text } };
}

/**
 * A model's check that is not met: it refuses; where nothing can be refused, it stops the work or
 * is told to the user.
 */
export function notMet(event: HookEvent, reason: string): HookResult {
  if (event.refuses) return refused(event, reason);
  if (event.canStop)
    return { status: 'stopped', entries: [entry('stop', reason)], effect: { stop: reason } };
  return { status: 'completed', entries: [entry('warning', reason)], effect: {} };
}

/**
 * The result of a check that failed: no, where that can still prevent something. Otherwise it
 * decides nothing.
 */
export function failedCheck(event: HookEvent, failed: HookResult): HookResult {
  if (!event.failsShut) return failed;
  const why = failed.entries.map(({ text }) => text).join(' ');
  const no = notMet(event, `A hook could not check this, which counts as a refusal: ${why}`);
  return { ...no, entries: [...failed.entries, ...no.entries] };
}

/** The output is not what this event knows. Nothing of it has an effect. */
class OutputProblem extends Error {}

function readJson(event: HookEvent, text: string): HookResult {
  const output = strictJson(text);
  if (!isObject(output)) return failedHook(`${event.label} hook printed invalid JSON`);
  try {
    return readObject(event, output as JsonObject);
  } catch (error) {
    if (error instanceof OutputProblem)
      return failedHook(`${event.label} hook printed ${error.message}`);
    throw error;
  }
}

function readObject(event: HookEvent, output: JsonObject): HookResult {
  const {
    continue: goesOn,
    stopReason,
    suppressOutput,
    systemMessage,
    decision,
    reason,
    hookSpecificOutput,
    ...unknown
  } = output;
  checkNone(unknown, '', FIELDS);
  // Nothing of an output is shown in any case.
  optional(suppressOutput, 'suppressOutput', 'boolean');
  const specific = readSpecific(event, hookSpecificOutput ?? {});
  const warning = optional(systemMessage, 'systemMessage', 'string');
  const effect: HookEffect = { ...specific };
  if (optional(goesOn, 'continue', 'boolean') === false) {
    if (!event.canStop)
      throw new OutputProblem(`continue: false, which ${event.label} hooks cannot ask for`);
    effect.stop =
      optional(stopReason, 'stopReason', 'string')?.trim() || `A ${event.label} hook stopped this.`;
  }
  if (blocks(event, decision))
    effect.refuse = reasonOf(event, optional(reason, 'reason', 'string'), 'decision: "block"');
  return result(effect, warning);
}

/** Stopping goes before refusing, and refusing before everything else. */
function result(effect: HookEffect, warning: string | undefined): HookResult {
  const entries = [
    ...(warning === undefined ? [] : [entry('warning', warning)]),
    ...(effect.context === undefined ? [] : [entry('context', effect.context)]),
  ];
  if (effect.stop !== undefined)
    return { status: 'stopped', entries: [...entries, entry('stop', effect.stop)], effect };
  if (effect.refuse !== undefined)
    return { status: 'blocked', entries: [...entries, entry('feedback', effect.refuse)], effect };
  return { status: 'completed', entries, effect };
}

function blocks(event: HookEvent, decision: JsonObject[string] | undefined): boolean {
  if (decision === undefined || decision === null) return false;
  if (decision !== 'block')
    throw new OutputProblem(`decision: ${JSON.stringify(decision)}, where only "block" is known`);
  if (!event.refuses || event.name === 'permissionRequest') {
    throw new OutputProblem(`decision: "block", which ${event.label} hooks cannot decide`);
  }
  return true;
}

function reasonOf(event: HookEvent, reason: string | undefined, where: string): string {
  const text = reason?.trim() ?? '';
  if (text === '' && event.needsReason) throw new OutputProblem(`${where} without a reason`);
  return text === '' ? `A ${event.label} hook refused this without giving a reason.` : text;
}

/** Reads the part of the output that only some events have. */
function readSpecific(event: HookEvent, value: JsonObject[string]): HookEffect {
  if (!isObject(value)) throw new OutputProblem('hookSpecificOutput that is not an object');
  const { hookEventName, additionalContext, ...rest } = value as JsonObject;
  optional(hookEventName, 'hookEventName', 'string');
  const context = optional(additionalContext, 'additionalContext', 'string')?.trim();
  if (context && !event.givesContext)
    throw new OutputProblem(`additionalContext, which ${event.label} hooks cannot give`);
  const given = context ? { context } : {};
  if (event.name === 'preToolUse') return { ...given, ...readPermission(event, rest) };
  if (event.name === 'permissionRequest') return readApproval(event, rest);
  checkNone(rest, 'hookSpecificOutput.');
  return given;
}

function readPermission(event: HookEvent, output: JsonObject): HookEffect {
  const { permissionDecision, permissionDecisionReason, updatedInput, ...unknown } = output;
  checkNone(unknown, 'hookSpecificOutput.', SPECIFIC_FIELDS);
  const reason = optional(permissionDecisionReason, 'permissionDecisionReason', 'string');
  const changed = updatedInput ?? null;
  if (changed !== null && !isObject(changed))
    throw new OutputProblem('updatedInput that is not an object');
  const input = changed === null ? {} : { updatedInput: changed as JsonObject };
  switch (permissionDecision) {
    case undefined:
    case null:
      return input;
    case 'allow':
      if (changed === null) throw new OutputProblem(ALLOWS);
      return input;
    case 'deny':
      return { refuse: reasonOf(event, reason, 'permissionDecision: "deny"') };
    case 'ask':
      return {
        ...input,
        ask: reason?.trim() || 'A PreToolUse hook asks for the approval of the user.',
      };
    default:
      throw new OutputProblem(
        `permissionDecision: ${JSON.stringify(permissionDecision)}, where "allow", "deny" and "ask" are known`,
      );
  }
}

const ALLOWS =
  'permissionDecision: "allow" without updatedInput. A PreToolUse hook cannot replace an approval; a PermissionRequest hook can';

function readApproval(event: HookEvent, output: JsonObject): HookEffect {
  const { decision, ...unknown } = output;
  checkNone(unknown, 'hookSpecificOutput.');
  if (decision === undefined || decision === null) return {};
  if (!isObject(decision)) throw new OutputProblem('a decision that is not an object');
  const { behavior, message, interrupt, ...others } = decision as JsonObject;
  checkNone(others, 'hookSpecificOutput.decision.');
  const reason = optional(message, 'message', 'string');
  const endsTurn = optional(interrupt, 'interrupt', 'boolean') === true;
  if (behavior === 'allow') return { allow: true };
  if (behavior !== 'deny')
    throw new OutputProblem(
      `behavior: ${JSON.stringify(behavior ?? null)}, where "allow" and "deny" are known`,
    );
  return { refuse: reasonOf(event, reason, 'behavior: "deny"'), ...(endsTurn ? { endsTurn } : {}) };
}

/** Throws for a field that has no meaning, so that no decision is lost by a wrong name. */
function checkNone(unknown: JsonObject, prefix: string, known: readonly string[] = []): void {
  const given = Object.keys(unknown).filter((key) => unknown[key] !== null);
  if (given.length > 0)
    throw new OutputProblem(
      `unknown fields: ${given.map((key) => prefix + key + meant(key, known)).join(', ')}`,
    );
}

function meant(key: string, known: readonly string[]): string {
  if (known === FIELDS && SPECIFIC_FIELDS.includes(key))
    return ' (it belongs into hookSpecificOutput)';
  const nearest = suggestKey(key, known);
  return nearest === null ? '' : ` (did you mean ${nearest}?)`;
}

interface Types {
  string: string;
  boolean: boolean;
}

/** The value if it is of this type; undefined if it is absent or null. */
function optional<T extends keyof Types>(
  value: JsonObject[string] | undefined,
  name: string,
  type: T,
): Types[T] | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== type) throw new OutputProblem(`${name} that is not a ${type}`);
  return value as Types[T];
}
