import { createHash } from 'node:crypto';

/** The longest name of a tool that providers accept, with its namespace. */
const NAME_CHARS_MAX = 64;
const NAMESPACE_CHARS_MAX = 32;
const HASH_CHARS = 8;

/**
 * The namespaces of servers, as models see them: `mcp__` and the name. Different servers have
 * different ones.
 */
export function mcpNamespaces(servers: readonly string[]): Map<string, string> {
  return uniqueNames(
    servers,
    (server) => `mcp__${server.replace(/\W/g, '_')}`,
    NAMESPACE_CHARS_MAX,
  );
}

/** The names of a server's tools, as models see them. Different tools have different ones. */
export function mcpToolNames(tools: readonly string[], namespace: string): Map<string, string> {
  return uniqueNames(
    tools,
    (tool) => tool.replace(/[^\w-]/g, '_'),
    NAME_CHARS_MAX - namespace.length - 2,
  );
}

function uniqueNames(
  all: readonly string[],
  nameOf: (each: string) => string,
  charsMax: number,
): Map<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  // A name that needs no change keeps it, whatever others are like.
  const exactFirst = [
    ...all.filter((each) => nameOf(each).endsWith(each)),
    ...all.filter((each) => !nameOf(each).endsWith(each)),
  ];
  for (const each of exactFirst) {
    const wanted = nameOf(each) || '_';
    const fits = wanted.length <= charsMax && !taken.has(wanted);
    const name = fits ? wanted : `${wanted.slice(0, charsMax - HASH_CHARS - 1)}_${hash(each)}`;
    taken.add(name);
    names.set(each, name);
  }
  return names;
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_CHARS);
}
