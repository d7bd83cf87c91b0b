import { dirname, isAbsolute, join, normalize } from 'node:path';
import { readRegularFile } from '../../base/files/read-regular-file.ts';
import { isObject } from '../../base/json-value.ts';
import { isWithin } from '../../base/paths/is-within.ts';
import type { SkillDependencies, SkillInterface } from '../../protocol/generated/types.ts';
import type { SkillError } from './find-skills.ts';
import { oneLine, parseYaml } from './parse-yaml.ts';

const BYTES_MAX = 16 * 1024;
const TOOLS_MAX = 100;

/** The facts of a skill's `agents/openai.yaml`: how to show it, and the tools that it needs. */
export interface SkillPresentation {
  interface: SkillInterface | null;
  dependencies: SkillDependencies | null;
  /** Null unless the file cannot be read. */
  error: SkillError | null;
}

/**
 * Reads the file beside a SKILL.md. `mayLieAt` says whether it may be read where links lead. Never
 * rejects.
 */
export async function skillPresentation(
  skillFile: string,
  mayLieAt: (real: string) => boolean,
): Promise<SkillPresentation> {
  const folder = dirname(skillFile);
  const path = join(folder, 'agents', 'openai.yaml');
  const none = { interface: null, dependencies: null };
  try {
    const read = await readRegularFile(path, { bytesMax: BYTES_MAX, mayLieAt });
    if (read === null) return { ...none, error: null };
    const file = await parseYaml(read.bytes.toString('utf8'));
    if (!isObject(file)) throw new Error('expected the tables interface and dependencies');
    return {
      interface: toInterface(file.interface, folder),
      dependencies: toDependencies(file.dependencies),
      error: null,
    };
  } catch (error) {
    return {
      ...none,
      error: {
        path,
        message: error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error),
      },
    };
  }
}

function toInterface(value: unknown, folder: string): SkillInterface | null {
  if (!isObject(value)) return null;
  const color = oneLine(value.brand_color);
  return {
    displayName: oneLine(value.display_name),
    shortDescription: oneLine(value.short_description),
    iconSmall: fileIn(folder, value.icon_small),
    iconLarge: fileIn(folder, value.icon_large),
    iconSmallUrl: null,
    iconLargeUrl: null,
    brandColor: color !== null && /^#[\da-f]{6}$/i.test(color) ? color : null,
    defaultPrompt: oneLine(value.default_prompt),
  };
}

/** The absolute path of a file in the skill's folder; null: it is not there. */
function fileIn(folder: string, value: unknown): string | null {
  const path = oneLine(value);
  if (path === null || isAbsolute(path)) return null;
  const absolute = normalize(join(folder, path));
  return isWithin(absolute, folder) ? absolute : null;
}

function toDependencies(value: unknown): SkillDependencies | null {
  if (!isObject(value) || !Array.isArray(value.tools)) return null;
  const tools = value.tools.slice(0, TOOLS_MAX).flatMap((tool: unknown) => {
    if (!isObject(tool)) return [];
    const type = oneLine(tool.type);
    const named = oneLine(tool.value);
    if (type === null || named === null) return [];
    const [description, transport, command, url] = [
      tool.description,
      tool.transport,
      tool.command,
      tool.url,
    ].map(oneLine);
    return [
      {
        type,
        value: named,
        description: description ?? null,
        transport: transport ?? null,
        command: command ?? null,
        url: url ?? null,
      },
    ];
  });
  return tools.length === 0 ? null : { tools };
}
