import {
  type ActionRow,
  COMMAND_NAMES,
  type CommandName,
  type CommandRow,
  commandRow,
  optionRows,
} from './commands.ts';
import { HELP_TEXTS } from './help-texts.ts';
import { COMMON_OPTIONS, type OptionRow, type OptionRows } from './option-rows.ts';
import { letterOf, type OptionName } from './read-options.ts';

/** The usual width of a terminal. */
const LINE_CHARS_MAX = 80;
const LEFT_CHARS = 27;
/** The left part may be a little longer. Its text is then on the next line. */
const GAP = '  ';

/** Returns the help of a command, or of all. */
export function showHelp(command: CommandName | null): string {
  return command === null ? overview() : helpOf(command, commandRow(command));
}

function overview(): string {
  const { options } = commandRow('app-server');
  const commands = COMMAND_NAMES.map((name) => entry(name, commandRow(name).summary));
  return `usage: heddle [app-server] [options]
       heddle COMMAND [options]

heddle is a server for coding agents. An editor or another client starts it,
and speaks JSON-RPC with it.

Commands ("heddle help COMMAND" prints the options of each):

${commands.join('')}
Options of app-server:

${optionLines({ ...options, ...COMMON_OPTIONS })}
The home folder is $HEDDLE_HOME, else $CODEX_HOME, else ~/.heddle.
The log level is --log-level, else $HEDDLE_LOG.
`;
}

function helpOf(name: CommandName, row: CommandRow): string {
  const { actions = {}, summary } = row;
  const text = HELP_TEXTS[name];
  const usages =
    Object.keys(actions).length === 0
      ? [usage(name, row)]
      : Object.entries(actions).map(([word, own]) => usage(`${name} ${word}`, own));
  const entries = Object.entries(actions).map(([word, own]) =>
    entry(`${word} ${own.arguments}`.trim(), own.summary),
  );
  const parts = [
    usages.map((line, index) => `${index === 0 ? 'usage: ' : '       '}${line}\n`).join(''),
    paragraphs(`${capitalized(summary)}.${text === undefined ? '' : `\n\n${text}`}`),
    ...(entries.length === 0 ? [] : [entries.join('')]),
    optionLines(optionRows(row)),
  ];
  return parts.join('\n');
}

function usage(words: string, { arguments: args }: ActionRow): string {
  const start = words === 'app-server' ? '[app-server]' : words;
  return `heddle ${start}${args === '' ? '' : ` ${args}`} [options]`;
}

function optionLines(rows: OptionRows): string {
  return (Object.entries(rows) as [OptionName, OptionRow][])
    .map(([name, { value, text }]) => {
      const letter = letterOf(name);
      return entry(
        `${letter === null ? '    ' : `-${letter}, `}--${name}${value === undefined ? '' : ` ${value}`}`,
        text,
      );
    })
    .join('');
}

/** A line, or more if it is long: what stands on the left, and its text. */
function entry(left: string, text: string): string {
  const indent = ' '.repeat(LEFT_CHARS);
  const first = `  ${left}`;
  const lines = wrapped(text, LINE_CHARS_MAX - LEFT_CHARS);
  if (first.length + GAP.length > LEFT_CHARS)
    return `${first}\n${lines.map((line) => `${indent}${line}\n`).join('')}`;
  return lines
    .map((line, index) => `${index === 0 ? first.padEnd(LEFT_CHARS) : indent}${line}\n`)
    .join('');
}

/** Paragraphs, with an empty line between two. */
function paragraphs(text: string): string {
  const filled = text
    .split('\n\n')
    .map((one) => wrapped(one.replaceAll('\n', ' '), LINE_CHARS_MAX).join('\n'));
  return `${filled.join('\n\n')}\n`;
}

function wrapped(text: string, charsMax: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > charsMax) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
