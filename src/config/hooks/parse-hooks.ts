import { createHash } from 'node:crypto';
import type { JsonObject, JsonValue } from '../../base/json-value.ts';
import { suggestKey } from '../../base/text/suggest-key.ts';
import { canonicalJson } from '../layers/layer.ts';
import { isTable } from '../toml/config-table.ts';
import type { HookDefinition, HookHandler } from './hook-definition.ts';
import { HOOK_EVENTS, type HookEvent, separatedName } from './hook-events.ts';
import { HookFields } from './hook-fields.ts';
import { misspeltTool, readMatcher } from './read-matcher.ts';

/** A hook without the facts that depend on its source. */
export type ParsedHook = Omit<
  HookDefinition,
  'source' | 'sourcePath' | 'projectFolder' | 'displayOrder' | 'isEnabled' | 'trust'
>;

interface Parsed {
  hooks: ParsedHook[];
  /** One for each part that is not used. */
  problems: string[];
  /** One for each key that has no effect. */
  advice: string[];
}

/** The most hooks of one file. */
const HOOKS_MAX = 500;
const EVENT_NAMES = HOOK_EVENTS.map(({ label }) => label);

/** A handler on its way to a hook. */
interface Place {
  event: HookEvent;
  matcher: string | null;
  matches: HookDefinition['matches'];
  /** For messages. */
  where: string;
  key: string;
}

/**
 * Reads a table of hooks by event. `source`: begins the keys of its hooks. Parts that are not valid
 * are left out.
 */
export function parseHooks(table: JsonObject, source: string): Parsed {
  const parsed: Parsed = { hooks: [], problems: [], advice: [] };
  for (const name of Object.keys(table))
    if (!EVENT_NAMES.includes(name)) parsed.problems.push(unknownEvent(name));
  for (const event of HOOK_EVENTS) {
    const groups = table[event.label];
    if (groups === undefined) continue;
    if (Array.isArray(groups))
      for (const [index, group] of groups.entries())
        parseGroup(group, { event, index, source }, parsed);
    else parsed.problems.push(`${event.label}: expected a list`);
  }
  if (parsed.hooks.length > HOOKS_MAX) {
    parsed.problems.push(
      `there are more than ${HOOKS_MAX} hooks: only the first ${HOOKS_MAX} are used`,
    );
    parsed.hooks.length = HOOKS_MAX;
  }
  return parsed;
}

function unknownEvent(name: string): string {
  const suggested = suggestKey(name, EVENT_NAMES);
  const advice =
    suggested === null ? `The events are ${EVENT_NAMES.join(', ')}.` : `Did you mean ${suggested}?`;
  return `${JSON.stringify(name)} is not an event, so its hooks are not used. ${advice}`;
}

function parseGroup(
  group: JsonValue,
  { event, index, source }: { event: HookEvent; index: number; source: string },
  parsed: Parsed,
): void {
  const where = `${event.label}[${index}]`;
  if (isTable(group) && group.hooks === undefined && (group.type ?? group.command) !== undefined) {
    const form = '{ "matcher": …, "hooks": [{ "type": …, … }] }';
    parsed.problems.push(
      `${where}: a hook belongs into the list "hooks" of a group, so this one is not used: ${form}`,
    );
    return;
  }
  const fields = new HookFields(group, where, parsed);
  const matcher = fields.text('matcher');
  const handlers = fields.list('hooks');
  fields.endWith(['matcher', 'hooks']);
  if (handlers === null || matcher === undefined) return;
  const matches = readMatcher(event.matches === null ? null : matcher);
  if (typeof matches === 'object') {
    parsed.problems.push(
      `${where}: the matcher ${JSON.stringify(matcher)} is not a valid regular expression: ${matches.problem}`,
    );
    return;
  }
  const misspelt = event.matches === 'tool' ? misspeltTool(matcher) : null;
  if (misspelt !== null) parsed.advice.push(`${where}: ${misspelt}`);
  for (const [position, handler] of handlers.entries()) {
    const key = `${source}:${separatedName(event.name, '_')}:${index}:${position}`;
    const place = {
      event,
      matcher: event.matches === null ? null : matcher,
      matches,
      where: `${where}.hooks[${position}]`,
      key,
    };
    const hook = parseHandler(handler, place, parsed);
    if (hook !== null) parsed.hooks.push(hook);
  }
}

const COMMON_KEYS = ['type', 'timeout', 'statusMessage'];

/** Null: it is not used. */
function parseHandler(value: JsonValue, place: Place, parsed: Parsed): ParsedHook | null {
  const { event, matcher, matches, key, where } = place;
  const fields = new HookFields(value, where, parsed);
  const read = fields.isTable ? readHandler(fields, place, parsed) : null;
  if (read === null) return null;
  const { handler, keys, hashed } = read;
  const timeout = fields.wholeNumber('timeout');
  const statusMessage = fields.text('statusMessage');
  const limit = handler.type === 'command' ? fields.wholeNumber('additionalContextLimit') : null;
  fields.endWith([...COMMON_KEYS, ...keys]);
  if (timeout === undefined || statusMessage === undefined || limit === undefined) return null;
  if (limit !== null && !event.givesContext) {
    parsed.advice.push(
      `${where}: additionalContextLimit is ignored, because ${event.label} hooks cannot give additional context`,
    );
  }
  const timeoutSec = Math.max(1, timeout ?? event.timeoutSecDefault);
  const contextTokensMax = event.givesContext ? limit : null;
  const identity = {
    ...hashed,
    timeout: timeoutSec,
    ...(statusMessage === null ? {} : { statusMessage }),
    ...(contextTokensMax === null ? {} : { additionalContextLimit: contextTokensMax }),
  };
  const hash = hashOf({
    event_name: separatedName(event.name, '_'),
    ...(matcher === null ? {} : { matcher }),
    hooks: [identity],
  });
  return {
    key,
    event: event.name,
    matcher,
    matches,
    handler,
    timeoutSec,
    statusMessage,
    contextTokensMax,
    hash,
  };
}

/** `keys`: the handler's own keys. `hashed`: the part of the hash that is its own. */
interface ReadHandler {
  handler: HookHandler;
  keys: string[];
  hashed: JsonObject;
}

function readHandler(
  fields: HookFields,
  { event, where }: Place,
  { problems, advice }: Parsed,
): ReadHandler | null {
  const type = fields.raw('type');
  const isAtEnd = event.name === 'sessionEnd';
  switch (type) {
    case 'command':
      return commandHandler(fields, { isAtEnd, where, advice });
    case 'mcp_tool':
    case 'prompt':
    case 'agent':
      if (!isAtEnd) return type === 'mcp_tool' ? mcpHandler(fields) : modelHandler(fields, type);
      problems.push(
        `${where}: only hooks of the type "command" can run at the end of a session, so this one is not used`,
      );
      return null;
    default:
      problems.push(
        `${where}: the type must be "command", "mcp_tool", "prompt" or "agent", found ${JSON.stringify(type ?? null)}`,
      );
      return null;
  }
}

function commandHandler(
  fields: HookFields,
  { isAtEnd, where, advice }: { isAtEnd: boolean; where: string; advice: string[] },
): ReadHandler | null {
  const command = fields.requiredText('command');
  const wantsAsync = fields.flag('async');
  // `commandWindows` is for another system.
  const keys = ['command', 'commandWindows', 'async', 'additionalContextLimit'];
  if (command === null || wantsAsync === undefined) return null;
  if (wantsAsync && isAtEnd)
    advice.push(`${where}: async is ignored, because the end of a session waits for its hooks`);
  const isAsync = wantsAsync && !isAtEnd;
  return {
    handler: { type: 'command', command, isAsync },
    keys,
    hashed: { type: 'command', command, async: isAsync },
  };
}

function mcpHandler(fields: HookFields): ReadHandler | null {
  const server = fields.requiredText('server');
  const tool = fields.requiredText('tool');
  const input = fields.table('input');
  if (server === null || tool === null || input === undefined) return null;
  const keys = ['server', 'tool', 'input'];
  return {
    handler: { type: 'mcpTool', server, tool, input },
    keys,
    hashed: { type: 'mcp_tool', server, tool, input },
  };
}

function modelHandler(fields: HookFields, type: 'prompt' | 'agent'): ReadHandler | null {
  const prompt = fields.requiredText('prompt');
  const model = fields.text('model');
  if (prompt === null || model === undefined) return null;
  const hashed = { type, prompt, ...(model === null ? {} : { model }) };
  return { handler: { type, prompt, model }, keys: ['prompt', 'model'], hashed };
}

/**
 * The same hash as that of other programs that read these files, so that hooks that the user
 * trusted there are trusted here.
 */
function hashOf(identity: JsonObject): string {
  return `sha256:${createHash('sha256').update(canonicalJson(identity)).digest('hex')}`;
}
