/** The name of a tool for APIs without namespaces: `mcp__server__tool`. */
export function flatToolName({ name, namespace }: { name: string; namespace?: string | null | undefined }): string {
  return namespace ? `${namespace}__${name}` : name;
}
