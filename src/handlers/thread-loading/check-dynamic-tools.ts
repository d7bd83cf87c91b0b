import type { DynamicToolSpec } from '../../protocol/generated/types.ts';
import { invalidParams } from '../../protocol/rpc-error.ts';

const NAME_CHARS_MAX = 128;
const NAMESPACE_CHARS_MAX = 64;
const NAME = /^[a-zA-Z0-9_-]+$/;

/** Throws if models would not accept a tool's name, or if two tools have the same name. */
export function checkDynamicTools(tools: readonly DynamicToolSpec[]): void {
  const seen = new Set<string>();
  const namespaces = new Set<string>();
  for (const tool of tools) {
    if (tool.type === 'namespace') {
      checkName(tool.name, 'namespace', NAMESPACE_CHARS_MAX);
      if (namespaces.has(tool.name)) throw invalidParams(`duplicate dynamic tool namespace: ${tool.name}`);
      namespaces.add(tool.name);
      for (const { name } of tool.tools) checkTool({ name, namespace: tool.name }, seen);
    } else {
      const { name, namespace = null } = tool;
      if (namespace !== null) checkName(namespace, 'namespace', NAMESPACE_CHARS_MAX);
      checkTool({ name, namespace }, seen);
    }
  }
}

function checkTool({ name, namespace }: { name: string; namespace: string | null }, seen: Set<string>): void {
  checkName(name, 'name', NAME_CHARS_MAX);
  const full = `${namespace ?? ''}/${name}`;
  if (seen.has(full)) throw invalidParams(`duplicate dynamic tool name${namespace === null ? '' : ` in namespace ${namespace}`}: ${name}`);
  seen.add(full);
}

function checkName(name: string, what: 'name' | 'namespace', charsMax: number): void {
  if (name === '') throw invalidParams(`dynamic tool ${what} must not be empty`);
  if (name.length > charsMax)
    throw invalidParams(`dynamic tool ${what} must be at most ${charsMax} characters: ${name.slice(0, charsMax)}…`);
  if (!NAME.test(name)) throw invalidParams(`dynamic tool ${what} must match ${NAME.source}: ${name}`);
}
