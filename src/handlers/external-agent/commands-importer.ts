import { dirname, join } from 'node:path';
import { cutText } from '../../base/text/cut-text.ts';
import { oneLine } from '../../instructions/skills/parse-yaml.ts';
import { type Importer, type Refused, SourceError } from './found.ts';
import { isOccupied, putNewFile } from './put-new-file.ts';
import { markdownFiles, readMarkdown } from './read-markdown.ts';
import { readSource } from './read-source.ts';
import type { Scope } from './scope.ts';
import { takeEach } from './take-each.ts';

const NAME = /^[\w.-]{1,64}$/;
const DESCRIPTION_CHARS_MAX = 1_000;

/** The parts of a command that the other agent replaces before its model reads it. */
const REPLACED: readonly { what: string; pattern: RegExp }[] = [
  { what: 'arguments ($ARGUMENTS)', pattern: /\$(?:ARGUMENTS\b|\{?\d)/ },
  { what: 'the output of a command (!`…`)', pattern: /!`/ },
  { what: 'the contents of a file (@path)', pattern: /(?:^|\s)@[\w./~-]/m },
];

/** The user's commands, each of which becomes a skill. */
export const commandsImporter: Importer = {
  itemType: 'COMMANDS',
  details: 'commands',
  async look(scope) {
    const source = join(scope.folder, 'commands');
    const { target } = scope.skills;
    const listed = await markdownFiles(source, { root: scope.root, isDeep: true });
    if (listed === null) return null;
    const skills = new Map<string, string>();
    const refused = [...listed.refused];
    const seen = new Set<string>();
    for (const file of listed.files) {
      const read = await skillOf(file, source, scope);
      if ('message' in read) refused.push(read);
      else if (seen.has(read.name))
        refused.push({
          source: read.name,
          message: `two commands would be the skill ${read.name}`,
          failureStage: 'select',
        });
      else if (read.text !== null) skills.set(read.name, read.text);
      if ('name' in read) seen.add(read.name);
    }
    return {
      description: `Migrate commands from ${source} to ${target}`,
      names: [...skills.keys()],
      refused,
      take: (names) =>
        takeEach(names, async (name) => {
          await putNewFile(join(target, name, 'SKILL.md'), skills.get(name) ?? '', scope);
          return { source: name, target: name, title: null };
        }),
    };
  },
};

/** The skill that a command becomes. `text` is null if heddle has it already. */
async function skillOf(
  file: string,
  folder: string,
  scope: Scope,
): Promise<{ name: string; text: string | null } | Refused> {
  const command = file.slice(0, -'.md'.length).replaceAll('/', '-');
  const name = `source-command-${command}`;
  if (!NAME.test(name)) {
    return {
      source: name,
      message: `${name} is not a name of at most 64 letters, digits, ".", "-" and "_"`,
      failureStage: 'select',
    };
  }
  try {
    const { fields, body } = await readMarkdown(join(folder, file), scope.root);
    const replaced = REPLACED.find(({ pattern }) => pattern.test(body));
    if (replaced !== undefined) {
      return {
        source: name,
        message: `${join(folder, file)} takes ${replaced.what}, which skills do not`,
        failureStage: 'select',
      };
    }
    if (body.trim() === '')
      return { source: name, message: `${join(folder, file)} has no text`, failureStage: 'select' };
    const description =
      oneLine(fields.description) ?? `Runs the command ${command} of Claude Code.`;
    const text = skillText(name, {
      description: cutText(description, DESCRIPTION_CHARS_MAX),
      command,
      body: body.trim(),
    });
    const path = join(scope.skills.target, name, 'SKILL.md');
    if (!isOccupied(dirname(path))) return { name, text };
    const isSame =
      (await readSource(path, dirname(scope.skills.target)).catch(() => null)) === text;
    return isSame
      ? { name, text: null }
      : {
          source: name,
          message: `${dirname(path)} exists already, and was not changed`,
          failureStage: 'write',
        };
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return { source: name, message: error.message, failureStage: 'read' };
  }
}

function skillText(
  name: string,
  { description, command, body }: { description: string; command: string; body: string },
): string {
  return [
    '---',
    `name: ${JSON.stringify(name)}`,
    `description: ${JSON.stringify(description)}`,
    '---',
    '',
    `Use this skill if the user asks for the command \`${command}\`. These are its instructions:`,
    '',
    body,
    '',
  ].join('\n');
}
