import {
  COMMAND_NAMES,
  COMMON_OPTIONS,
  type CommandName,
  commandRow,
  type OptionRow,
  type OptionRows,
} from './commands.ts';
import { letterOf, type OptionName } from './read-options.ts';

export type Shell = 'bash' | 'zsh' | 'fish';

/** Returns the completions of all commands for a shell. */
export function showCompletion(shell: Shell): string {
  if (shell === 'fish') return fish();
  // zsh runs the functions of bash.
  return shell === 'zsh'
    ? `autoload -Uz compinit bashcompinit\ncompinit\nbashcompinit\n${bash()}`
    : bash();
}

/** The words that can follow a command, and the options, also those of its actions. */
function wordsAfter(name: CommandName): { words: string[]; options: [OptionName, OptionRow][] } {
  const { arguments: args, actions = {}, options } = commandRow(name);
  const all: OptionRows = {
    ...options,
    ...Object.assign({}, ...Object.values(actions).map((action) => action.options)),
    ...COMMON_OPTIONS,
  };
  const choices = args.includes('|') ? args.split('|') : [];
  const words = name === 'help' ? COMMAND_NAMES : [...Object.keys(actions), ...choices];
  return { words: [...words], options: Object.entries(all) as [OptionName, OptionRow][] };
}

function bash(): string {
  const cases = COMMAND_NAMES.map((name) => {
    const { words, options } = wordsAfter(name);
    return `    ${name}) words='${[...words, ...options.map(([option]) => `--${option}`)].join(' ')}' ;;\n`;
  });
  const values = allOptions().flatMap(([option, row]) => {
    const letter = letterOf(option);
    const pattern = letter === null ? `--${option}` : `--${option}|-${letter}`;
    if (row.choices !== undefined)
      return [
        `    ${pattern}) COMPREPLY=($(compgen -W '${row.choices.join(' ')}' -- "$word")); return ;;\n`,
      ];
    if (row.names !== undefined)
      return [
        `    ${pattern}) COMPREPLY=($(compgen -${row.names === 'file' ? 'f' : 'd'} -- "$word")); return ;;\n`,
      ];
    return row.value === undefined ? [] : [`    ${pattern}) return ;;\n`];
  });
  const [first] = COMMAND_NAMES;
  return `_heddle() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command='' words='' one
  COMPREPLY=()
  case "$before" in
${values.join('')}  esac
  for one in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$one" in
      ${COMMAND_NAMES.join('|')}) command="$one"; break ;;
    esac
  done
  case "$command" in
${cases.join('')}    *) words='${[...COMMAND_NAMES, ...wordsAfter(first ?? 'app-server').options.map(([option]) => `--${option}`)].join(' ')}' ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [ \${#COMPREPLY[@]} -eq 0 ]; then COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -o filenames -F _heddle heddle
`;
}

function fish(): string {
  const commands = COMMAND_NAMES.map(
    (name) =>
      `complete -c heddle -n __fish_use_subcommand -f -a ${name} -d ${fishText(commandRow(name).summary)}\n`,
  );
  const rest = COMMAND_NAMES.flatMap((name) => {
    const { words, options } = wordsAfter(name);
    const isServer = name === 'app-server';
    const when = isServer
      ? `'__fish_use_subcommand; or __fish_seen_subcommand_from app-server'`
      : `'__fish_seen_subcommand_from ${name}'`;
    return [
      ...(words.length === 0
        ? []
        : [`complete -c heddle -n ${when} -f -a ${fishText(words.join(' '))}\n`]),
      ...options.map(
        ([option, row]) => `complete -c heddle -n ${when} ${fishOption(option, row)}\n`,
      ),
    ];
  });
  return [...commands, ...rest].join('');
}

function fishOption(name: OptionName, { value, text, choices, names }: OptionRow): string {
  const letter = letterOf(name);
  const argument =
    choices === undefined
      ? names === undefined
        ? '-x'
        : '-r'
      : `-x -a ${fishText(choices.join(' '))}`;
  return [
    `-l ${name}`,
    ...(letter === null ? [] : [`-s ${letter}`]),
    ...(value === undefined ? ['-f'] : [argument]),
    `-d ${fishText(text)}`,
  ].join(' ');
}

function fishText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function allOptions(): [OptionName, OptionRow][] {
  const rows = COMMAND_NAMES.flatMap((name) => wordsAfter(name).options);
  return [...new Map(rows)];
}
