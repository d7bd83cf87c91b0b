import type { JsonObject } from '../../base/json-value.ts';
import { parseCommand } from '../../policy/parse/parse-command.ts';

/**
 * An action in the form in which an equal one is recognized that was denied: the commands of its
 * line, as the shell reads them. So white space, quotes, `;` in place of `&&`, another shell and a
 * terminal make no other action. What is denied in this form is only denied again, so it may leave
 * out differences. Of a line whose commands are not certain, only white space is left out.
 */
export async function withoutSpelling(planned: JsonObject): Promise<JsonObject> {
  const { command, tty: _, ...rest } = planned;
  if (!Array.isArray(command)) return planned;
  const { text, commands } = await parseCommand(command.map(String));
  return {
    ...rest,
    command: commands?.map(({ words }) => [...words]) ?? text.replace(/\s+/g, ' ').trim(),
  };
}
