import { describe, expect, test } from 'vitest';
import {
  type ActionRow,
  COMMAND_NAMES,
  type CommandName,
  commandRow,
} from '../../../src/cli/command-line/commands.ts';
import { COMMON_OPTIONS, type OptionRow } from '../../../src/cli/command-line/option-rows.ts';
import { letterOf, type OptionName } from '../../../src/cli/command-line/read-options.ts';
import { problemOf } from './problem-of.ts';

interface Place {
  name: CommandName;
  /** The words of the command and its arguments. */
  words: string[];
  options: [OptionName, OptionRow][];
}

/** Every command with each of its actions. */
const PLACES: Place[] = COMMAND_NAMES.flatMap((name): Place[] => {
  const { actions, ...row } = commandRow(name);
  const placeOf = (words: string[], own: ActionRow): Place => ({
    name,
    words: [...words, ...argumentsOf(own)],
    options: Object.entries({
      ...row.options,
      ...own.options,
      ...COMMON_OPTIONS,
    }) as Place['options'],
  });
  return actions === undefined
    ? [placeOf([name], row)]
    : Object.entries(actions).map(([action, own]) => placeOf([name, action], own));
});

function argumentsOf({ arguments: wanted }: ActionRow): string[] {
  return wanted
    .split(' ')
    .flatMap((one) => (one === '' || one.startsWith('[') ? [] : [one.split('|')[0] ?? '']));
}

const helpOf = (name: CommandName) =>
  ` (see "heddle ${name === 'app-server' || name === 'help' ? '--help' : `help ${name}`}")`;

/** The forms in which an option can be typed, without its value. */
function formsOf(option: OptionName): string[] {
  const letter = letterOf(option);
  return [`--${option}`, ...(letter === null ? [] : [`-${letter}`])];
}

/** Each command, each option that it takes, and each way to type it. */
const CASES = PLACES.flatMap(({ options, ...place }) =>
  options.flatMap(([option, row]) =>
    formsOf(option).map((form) => ({ ...place, option, row, form })),
  ),
);

describe('every option of every command', () => {
  test('that has a set of values lists them for another value, and gives the nearest one', () => {
    const wrong = CASES.filter(({ row }) => row.choices !== undefined).flatMap(
      ({ name, words, row, form }) => {
        const [first = ''] = row.choices ?? [];
        const misspelt = `${first.slice(0, -1)}#`;
        const problem = problemOf([...words, form, misspelt]) ?? '';
        const start = `${form} ${misspelt}: expected ${first}`;
        const isListed = row.choices?.every((choice) => problem.includes(choice));
        const isAnswered =
          problem.startsWith(start) &&
          isListed &&
          problem.includes(`did you mean ${first}?`) &&
          problem.endsWith(helpOf(name));
        return isAnswered ? [] : [problem];
      },
    );
    expect(wrong).toEqual([]);
  });

  test('whose help lists values has them in its table', () => {
    const listing = CASES.filter(
      ({ row }) => row.value !== undefined && /: \w[\w-]*(?:, [\w-]+)* or [\w-]+$/.test(row.text),
    );
    expect(
      listing
        .filter(({ row }) => row.choices === undefined)
        .map(({ form, words }) => [...words, form]),
    ).toEqual([]);
  });

  test('is named as it was typed if its value is missing, empty, or too many', () => {
    const wrong = CASES.flatMap(({ name, words, row, form }) => {
      if (form === '-h' || form === '-V') return [];
      const argvs =
        row.value === undefined
          ? form.startsWith('--')
            ? [[`${form}=1`]]
            : []
          : [[form], [form, '']];
      return argvs
        .map(
          (more) =>
            problemOf([...words, ...more]) ?? `accepted: ${words.join(' ')} ${more.join(' ')}`,
        )
        .filter((problem) => !(problem.startsWith(`${form} `) && problem.endsWith(helpOf(name))));
    });
    expect(wrong).toEqual([]);
  });

  test('is named as it was typed where it does not belong, with the places where it does', () => {
    const all = [...new Map(CASES.map((one) => [one.form, one])).values()];
    const misplaced = PLACES.flatMap(({ name, words, options }) => {
      const taken = [...options.map(([option]) => option), ...(commandRow(name).accepts ?? [])];
      return all
        .filter(({ option }) => !taken.includes(option))
        .map(({ form, row }) => ({ name, words, form, row }));
    });
    const wrong = misplaced.flatMap(({ name, words, form, row }) => {
      const value = row.value === undefined ? [] : [row.choices?.[0] ?? 'a=1'];
      const problem = problemOf([...words, form, ...value]) ?? 'accepted';
      return problem.startsWith(`${form} cannot be used with ${name}`) &&
        problem.endsWith(helpOf(name))
        ? []
        : [problem];
    });
    expect(misplaced.length).toBeGreaterThan(PLACES.length);
    expect(wrong).toEqual([]);
  });

  test('that is misspelt is answered with its name', () => {
    const long = CASES.filter(({ form, option }) => form.startsWith('--') && option.length > 4);
    const wrong = long.flatMap(({ name, words, option }) => {
      const misspelt = `--${option.slice(0, 2)}${option.slice(3)}x`;
      const problem = problemOf([...words, misspelt]);
      return problem === `unknown option ${misspelt}: did you mean --${option}?${helpOf(name)}`
        ? []
        : [problem];
    });
    expect(wrong).toEqual([]);
  });
});

describe('a value that people or other programs call otherwise', () => {
  test.each([
    [
      'exec --approve yes x',
      '--approve yes: expected ask, accept, acceptForSession, decline or cancel: did you mean accept?',
      'exec',
    ],
    [
      'exec --approve never x',
      '--approve never: expected ask, accept, acceptForSession, decline or cancel: did you mean decline?',
      'exec',
    ],
    [
      'exec -s full x',
      '-s full: expected read-only, workspace-write or danger-full-access: did you mean danger-full-access?',
      'exec',
    ],
    [
      'exec --log-level trace x',
      '--log-level trace: expected off, error, warn, info or debug: did you mean debug?',
      'exec',
    ],
    [
      'threads export ID --format json',
      '--format json: expected jsonl or markdown: did you mean jsonl?',
      'threads',
    ],
    [
      'exec --approve constructor x',
      '--approve constructor: expected ask, accept, acceptForSession, decline or cancel',
      'exec',
    ],
  ])('%s', (line, problem, command) => {
    expect(problemOf(line.split(' '))).toBe(`${problem} (see "heddle help ${command}")`);
  });
});
