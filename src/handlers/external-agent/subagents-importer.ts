import { join } from 'node:path';
import { isBuiltInRole } from '../../config/agents/known-roles.ts';
import { ROLE_SETTINGS } from '../../config/agents/role-settings.ts';
import type { Config } from '../../config/config.ts';
import { oneLine } from '../../instructions/skills/parse-yaml.ts';
import { type Importer, type Refused, SourceError } from './found.ts';
import { isOccupied, putNewFile } from './put-new-file.ts';
import { markdownFiles, readMarkdown } from './read-markdown.ts';
import { readSource } from './read-source.ts';
import type { Scope } from './scope.ts';
import { takeEach } from './take-each.ts';

/** The fields that a role has, under the same or another name. */
const TAKEN: readonly string[] = ['name', 'description'];

interface Role {
  file: string;
  text: string;
  /** The fields that are left. */
  left: readonly string[];
}

/**
 * Sub-agents, each of which becomes a role of agents. `config` reads the configuration of a folder.
 */
export function subagentsImporter({
  config,
}: {
  config: (cwd?: string | null) => Promise<Config>;
}): Importer {
  return {
    itemType: 'SUBAGENTS',
    details: 'subagents',
    async look(scope) {
      const source = join(scope.folder, 'agents');
      const { target } = scope.agents;
      const listed = await markdownFiles(source, { root: scope.root, isDeep: false });
      if (listed === null) return null;
      const { roles, refused } = await rolesOf(listed.files, source, scope);
      return {
        description: `Migrate subagents from ${source} to ${target}`,
        names: [...roles.keys()],
        refused: [...listed.refused, ...refused],
        async take(names) {
          const { isHome } = scope.hooks;
          // Records the files that a trusted project has now, so that a new one is not in force.
          if (!isHome) await config(scope.cwd);
          return takeEach(names, async (name) => {
            const role = roles.get(name);
            if (role === undefined) throw new SourceError(`there is no sub-agent ${name}`);
            await putNewFile(role.file, role.text, isHome ? { cwd: null } : scope);
            return { source: name, target: name, title: titleOf(role, isHome) };
          });
        },
      };
    },
  };
}

async function rolesOf(
  files: readonly string[],
  folder: string,
  scope: Scope,
): Promise<{ roles: Map<string, Role>; refused: Refused[] }> {
  const roles = new Map<string, Role>();
  const refused: Refused[] = [];
  const seen = new Set<string>();
  for (const file of files) {
    const read = await roleOf(join(folder, file), scope);
    if ('message' in read) refused.push(read);
    else if (seen.has(read.name))
      refused.push({
        source: read.name,
        message: `two sub-agents have the name ${read.name}`,
        failureStage: 'select',
      });
    else if (read.role !== null) roles.set(read.name, read.role);
    if ('name' in read) seen.add(read.name);
  }
  return { roles, refused };
}

function titleOf({ left }: Role, isHome: boolean): string | null {
  const parts = [
    ...(left.length === 0
      ? []
      : [`without ${left.join(', ')}, of which heddle has no counterpart`]),
    ...(isHome ? [] : ['not in force before you trust the file']),
  ];
  return parts.length === 0 ? null : parts.join('; ');
}

/** The role that a sub-agent becomes; `role` is null if heddle has it already. */
async function roleOf(
  path: string,
  scope: Scope,
): Promise<{ name: string; role: Role | null } | Refused> {
  const refuse = (
    message: string,
    { source, stage = 'select' }: { source?: string; stage?: Refused['failureStage'] } = {},
  ): Refused => ({
    source: source ?? path,
    message,
    failureStage: stage,
  });
  try {
    const { fields, body } = await readMarkdown(path, scope.root);
    const name = ROLE_SETTINGS.name.read(oneLine(fields.name));
    const description = ROLE_SETTINGS.description.read(oneLine(fields.description));
    if (!name) return refuse(`${path} has no name that is ${ROLE_SETTINGS.name.expected}`);
    // In its place, a role could do more: the built-in `explorer` only reads.
    if (isBuiltInRole(name))
      return refuse(`${path} has the name of a built-in role of heddle, ${name}`, { source: name });
    if (!description)
      return refuse(`${path} has no description that is ${ROLE_SETTINGS.description.expected}`, {
        source: name,
      });
    if (body.trim() === '') return refuse(`${path} has no instructions`, { source: name });
    const isReader = fields.permissionMode === 'plan';
    const left = Object.keys(fields).filter(
      (key) => !TAKEN.includes(key) && !(key === 'permissionMode' && isReader),
    );
    const text = roleText({ name, description, isReader, instructions: body.trim() });
    const file = join(scope.agents.target, `${name.replaceAll(' ', '-')}.toml`);
    if (!isOccupied(file)) return { name, role: { file, text, left } };
    const isSame = (await readSource(file, scope.agents.target).catch(() => null)) === text;
    return isSame
      ? { name, role: null }
      : refuse(`${file} exists already, and was not changed`, { source: name, stage: 'write' });
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return refuse(error.message, { stage: 'read' });
  }
}

function roleText(role: {
  name: string;
  description: string;
  isReader: boolean;
  instructions: string;
}): string {
  return [
    `name = ${tomlText(role.name)}`,
    `description = ${tomlText(role.description)}`,
    ...(role.isReader ? ['sandbox_mode = "read-only"'] : []),
    `developer_instructions = """\n${tomlLines(role.instructions)}\n"""`,
    '',
  ].join('\n');
}

function tomlText(text: string): string {
  return JSON.stringify(text).replaceAll('\x7f', '\\u007f');
}

/** A text of several lines between three quotes. */
function tomlLines(text: string): string {
  const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return (
    text
      .replaceAll('\r\n', '\n')
      .replaceAll('\\', '\\\\')
      .replaceAll('"""', '""\\"')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: TOML allows none of them
      .replace(/[\x00-\x08\x0b-\x1f\x7f]/g, escaped)
  );
}
