import { isObject, type JsonObject } from '../../base/json-value.ts';
import { cutText } from '../../base/text/cut-text.ts';
import { flatToolName } from '../../model/flat-tool-name.ts';
import { TOOL_SEARCH_NAME } from '../../model/found-tools.ts';
import { NAMESPACE_DESCRIPTION_CHARS_MAX, offeredSchema } from '../../model/offered-schema.ts';
import type { DynamicToolSpec } from '../../protocol/generated/types.ts';
import { invalidParams } from '../../protocol/rpc-error.ts';
import type { ClientTool } from '../../tools/client-tools/client-tool.ts';

/**
 * The limits of the Responses API, which refuses every request of a thread that has such a tool.
 */
const NAME_CHARS_MAX = 128;
const NAMESPACE_CHARS_MAX = 64;
const NAME = /^[a-zA-Z0-9_-]+$/;
/** The namespaces that the Responses API has for itself. */
const RESERVED_NAMESPACES: ReadonlySet<string> = new Set([
  'api_tool',
  'browser',
  'computer',
  'container',
  'file_search',
  'functions',
  'image_gen',
  'multi_tool_use',
  'python',
  'terminal',
  TOOL_SEARCH_NAME,
  'web',
]);
/** All tools of a thread as JSON, in characters. Every request to the model has them. */
const TOOLS_CHARS_MAX = 512 * 1024;
const SHOWN_CHARS_MAX = 100;

/** A tool, and where in the params it is. */
interface PlacedTool {
  tool: ClientTool;
  place: string;
}

/**
 * The tools that the params declare, as JSON text of `ClientTool[]`; null: none. Throws if they are
 * invalid, or two have one name.
 */
export function requestedTools(
  specs: readonly DynamicToolSpec[] | null | undefined,
): string | null {
  if (!specs || specs.length === 0) return null;
  const placed = specs.flatMap((spec, index) => toolsOf(spec, `params.dynamicTools[${index}]`));
  checkDistinct(specs, placed);
  const text = JSON.stringify(placed.map(({ tool }) => tool));
  if (text.length > TOOLS_CHARS_MAX)
    throw invalidParams(
      `params.dynamicTools has ${text.length} characters, and a thread's tools have at most ${TOOLS_CHARS_MAX}: declare fewer, or shorten them`,
    );
  return text;
}

function toolsOf(spec: DynamicToolSpec, place: string): PlacedTool[] {
  if (!('tools' in spec)) {
    if (spec.namespace !== null && spec.namespace !== undefined)
      checkNamespace(spec.namespace, `${place}.namespace`);
    const namespace = spec.namespace
      ? { name: spec.namespace, description: `Tools of ${spec.namespace}.` }
      : null;
    return [{ tool: clientTool(spec, namespace, place), place }];
  }
  const { name, description, tools } = spec;
  checkNamespace(name, `${place}.name`);
  if (description.length > NAMESPACE_DESCRIPTION_CHARS_MAX)
    throw invalidParams(
      `${place}.description must have at most ${NAMESPACE_DESCRIPTION_CHARS_MAX} characters: it has ${description.length}`,
    );
  if (tools.length === 0)
    throw invalidParams(`${place}.tools must not be empty: a namespace has at least one tool`);
  return tools.map((tool, index) => {
    const toolPlace = `${place}.tools[${index}]`;
    return { tool: clientTool(tool, { name, description }, toolPlace), place: toolPlace };
  });
}

type Declared = Pick<
  Extract<DynamicToolSpec, { inputSchema?: unknown }>,
  'name' | 'description' | 'deferLoading' | 'exposeToContext'
> & {
  inputSchema?: unknown;
};

function clientTool(
  declared: Declared,
  namespace: ClientTool['namespace'],
  place: string,
): ClientTool {
  const { name, description, inputSchema } = declared;
  checkName(name, `${place}.name`, NAME_CHARS_MAX);
  if (namespace === null && isReserved(name))
    throw invalidParams(
      `${place}.name must not be ${shown(name)}: the server has this name for itself. Choose another one`,
    );
  const isDeferred = declared.deferLoading ?? declared.exposeToContext === false;
  if (isDeferred && namespace === null)
    throw invalidParams(
      `${place}.deferLoading needs a namespace: a deferred dynamic tool must include one. Put ${shown(name)} into one`,
    );
  return {
    namespace,
    name,
    description,
    inputSchema: objectSchema(inputSchema, `${place}.inputSchema`),
    isDeferred,
  };
}

/** The schema as providers take it. */
function objectSchema(schema: unknown, place: string): JsonObject {
  const given = schema === true ? {} : schema;
  if (!isObject(given))
    throw invalidParams(
      `${place} must be a JSON Schema of an object, such as {"type": "object", "properties": {}}`,
    );
  const { type = 'object', properties = {} } = given;
  if (type !== 'object')
    throw invalidParams(`${place}.type must be "object": the arguments of a tool are an object`);
  if (!isObject(properties))
    throw invalidParams(`${place}.properties must be an object of JSON Schemas`);
  const offered = offeredSchema(given as JsonObject);
  if (typeof offered === 'string')
    throw invalidParams(`${place} cannot be offered to a model: ${offered}`);
  return offered;
}

function checkNamespace(name: string, place: string): void {
  checkName(name, place, NAMESPACE_CHARS_MAX);
  if (RESERVED_NAMESPACES.has(name) || isReserved(name))
    throw invalidParams(
      `${place} must not be ${shown(name)}: this namespace is reserved. Choose another one`,
    );
}

function checkName(name: string, place: string, charsMax: number): void {
  if (name.trim() === '') throw invalidParams(`${place} must not be empty`);
  if (!NAME.test(name))
    throw invalidParams(
      `${place} must consist of letters, digits, "_" and "-": found ${shown(name)}`,
    );
  if (name.length > charsMax)
    throw invalidParams(`${place} must have at most ${charsMax} characters: found ${shown(name)}`);
}

/** Whether a name is for tools of MCP servers, or for the search. */
function isReserved(name: string): boolean {
  return name === 'mcp' || name.startsWith('mcp__') || name === TOOL_SEARCH_NAME;
}

/** Compares the names as APIs without namespaces have them. */
function checkDistinct(specs: readonly DynamicToolSpec[], placed: readonly PlacedTool[]): void {
  const namespaces = new Set<string>();
  for (const [index, spec] of specs.entries()) {
    if (!('tools' in spec)) continue;
    if (namespaces.has(spec.name))
      throw invalidParams(
        `params.dynamicTools[${index}] repeats the namespace ${shown(spec.name)}: declare it once`,
      );
    namespaces.add(spec.name);
  }
  const places = new Map<string, string>();
  for (const { tool, place } of placed) {
    const name = flatToolName(tool.name, tool.namespace?.name);
    const earlier = places.get(name);
    if (earlier !== undefined)
      throw invalidParams(
        `${place} has the same name as ${earlier}: ${shown(name)}. Each tool needs its own`,
      );
    places.set(name, place);
  }
}

function shown(text: string): string {
  return JSON.stringify(cutText(text, SHOWN_CHARS_MAX));
}
