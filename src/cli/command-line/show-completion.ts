import { FEATURE_LIST } from '../../config/features/feature-list.ts';
import { COMMAND_NAMES, type CommandName, commandRow, optionRows } from './commands.ts';
import { COMMON_OPTIONS, type OptionRow, type OptionRows } from './option-rows.ts';
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

type Options = [OptionName, OptionRow][];

/** The words that can follow the name of a command. */
function wordsAfter(name: CommandName): string[] {
  const { arguments: args, actions = {}, forms = [] } = commandRow(name);
  const choices = args.includes('|') ? args.split('|') : [];
  return name === 'help' ? COMMAND_NAMES : [...Object.keys(actions), ...forms, ...choices];
}

/** The options of a command before its action, and of each of its actions. */
function optionsOf(name: CommandName): { own: Options; actions: [string, Options][] } {
  const row = commandRow(name);
  const options = (...rows: OptionRows[]) => Object.entries(Object.assign({}, ...rows)) as Options;
  const actions = Object.entries(row.actions ?? {});
  return {
    own: options(optionRows(row)),
    actions: actions.map(([action, own]) => [
      action,
      options(row.options, own.options, COMMON_OPTIONS),
    ]),
  };
}

/** The values that an option can have, or some of them. None: any. */
function valuesOf(name: OptionName, { choices, offers }: OptionRow): readonly string[] {
  const isFeature = name === 'enable' || name === 'disable';
  return choices ?? offers ?? (isFeature ? FEATURE_LIST.map((feature) => feature.name) : []);
}

function bash(): string {
  const rows = allOptions();
  const pattern = (option: OptionName) =>
    letterOf(option) === null ? `--${option}` : `--${option}|-${letterOf(option)}`;
  const values = rows.flatMap(([option, row]) => {
    const words = valuesOf(option, row).join(' ');
    if (words !== '')
      return [
        `    ${pattern(option)}) COMPREPLY=($(compgen -W '${words}' -- "$word")); return ;;\n`,
      ];
    if (row.names !== undefined)
      return [
        `    ${pattern(option)}) COMPREPLY=($(compgen -${row.names === 'file' ? 'f' : 'd'} -- "$word")); return ;;\n`,
      ];
    return row.value === undefined ? [] : [`    ${pattern(option)}) return ;;\n`];
  });
  const takingValues = rows.flatMap(([option, { value }]) =>
    value === undefined ? [] : [pattern(option)],
  );
  const flags = (options: Options) => options.map(([option]) => `--${option}`);
  const cases = COMMAND_NAMES.flatMap((name) => {
    const { own, actions } = optionsOf(name);
    return [
      `    '${name} ') words='${[...wordsAfter(name), ...flags(own)].join(' ')}' ;;\n`,
      ...actions.map(
        ([action, options]) => `    '${name} ${action}') words='${flags(options).join(' ')}' ;;\n`,
      ),
      `    '${name} '*) words='${flags(own).join(' ')}' ;;\n`,
    ];
  });
  const first = [...COMMAND_NAMES, ...flags(optionsOf('app-server').own)].join(' ');
  return `_heddle() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" skip='' words='' one
  local -a given=()
  COMPREPLY=()
  # bash makes three words of --option=value.
  if [ "$word" = '=' ]; then word=''
  elif [ "$before" = '=' ] && [ "$COMP_CWORD" -gt 1 ]; then before="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  case "$before" in
${values.join('')}  esac
  for one in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [ "$one" = '=' ]; then continue; fi
    if [ -n "$skip" ]; then skip=''; continue; fi
    case "$one" in
      ${takingValues.join('|')}) skip=1 ;;
      -*) ;;
      *) given+=("$one") ;;
    esac
  done
  if [ "\${given[0]-}" = e ]; then given[0]=exec; fi
  case "\${given[0]-} \${given[1]-}" in 'app-server generate-'*) given=("\${given[@]:1}") ;; esac
  case "\${given[0]-} \${given[1]-}" in
    ' ') words='${first}' ;;
${cases.join('')}  esac
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
    const words = wordsAfter(name);
    const { actions } = commandRow(name);
    const isServer = name === 'app-server';
    const seen = `__fish_seen_subcommand_from ${name}`;
    const when = isServer ? `'__fish_use_subcommand; or ${seen}'` : `'${seen}'`;
    const withAction = (action: string) => `'${seen}; and __fish_seen_subcommand_from ${action}'`;
    const lines = (options: Options, condition: string) =>
      options.map(
        ([option, row]) => `complete -c heddle -n ${condition} ${fishOption(option, row)}\n`,
      );
    const shared = Object.entries({ ...commandRow(name).options, ...COMMON_OPTIONS }) as Options;
    return [
      ...(words.length === 0
        ? []
        : [`complete -c heddle -n ${when} -f -a ${fishText(words.join(' '))}\n`]),
      ...lines(shared, when),
      ...Object.entries(actions ?? {}).flatMap(([action, own]) =>
        lines(Object.entries(own.options) as Options, withAction(action)),
      ),
    ];
  });
  return [...commands, ...rest].join('');
}

function fishOption(name: OptionName, row: OptionRow): string {
  const letter = letterOf(name);
  const values = valuesOf(name, row);
  const argument =
    values.length === 0
      ? row.names === undefined
        ? '-x'
        : '-r'
      : `-x -a ${fishText(values.join(' '))}`;
  return [
    `-l ${name}`,
    ...(letter === null ? [] : [`-s ${letter}`]),
    ...(row.value === undefined ? ['-f'] : [argument]),
    `-d ${fishText(row.text)}`,
  ].join(' ');
}

function fishText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function allOptions(): Options {
  return [...new Map(COMMAND_NAMES.flatMap((name) => optionsOf(name).own))];
}
