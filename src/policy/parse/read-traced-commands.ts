import type { Node } from 'web-tree-sitter';
import { latePattern } from '../../base/text/late-pattern.ts';
import type { ReadBash } from './bash-reader.ts';
import { commandWords } from './command-words.ts';
import type { SimpleCommand } from './simple-command.ts';

/**
 * Shells read these differently: unusual whitespace, control characters and invisible characters,
 * continued lines, and an expansion with a subscript or with a flag of zsh, which may run code.
 */
const strange = latePattern(() => /(?![ \t\n])[\p{Z}\p{C}]|\\\n|\$\w*\[|\$[~=^+]/u);
/** Syntax that starts no programs other than the commands in it. */
const TRACED: ReadonlySet<string> = new Set(
  (
    'program list pipeline command command_name subshell negated_command redirected_statement file_redirect file_descriptor ' +
    'herestring_redirect heredoc_start heredoc_body heredoc_content heredoc_end comment if_statement elif_clause else_clause while_statement ' +
    'do_group word number raw_string string string_content concatenation brace_expression simple_expansion ' +
    'variable_name special_variable_name process_substitution'
  ).split(' '),
);
/**
 * Further syntax, if its text has this form. Other forms run code in subscripts, or change what
 * names mean.
 */
const TRACED_FORMS: ReadonlyMap<string, RegExp> = new Map([
  ['expansion', /^\$\{\w+\}$/],
  ['compound_statement', /^\{[^(]/],
  ['test_command', /^\[ (?:! )?-[defhLrswxzn] [\w./-]+ \]$/],
  // In zsh, some names mean more than the name, such as `path`.
  ['for_statement', /^for\s+(?:[a-z]|dir|file|item|line|name|num|page|part)\s/],
  // bash ends this at the next backtick, also between quotes or in a comment.
  ['command_substitution', /^(?:\$\(|`[^`'"\\#]*`$)/],
  ['heredoc_redirect', /^<<-?\s*(?:\w+|'\w+'|"\w+")\s/],
]);
/** In zsh, one of these as a word of its own begins or ends a block. */
const BLOCK_SIGN = /^[{}]$/;
/**
 * Text may stand between the children of these nodes. Between all others there must be blanks only.
 */
const TEXT: ReadonlySet<string> = new Set(['string', 'heredoc_body']);
const BLANK = /^[ \t\n]*$/;
/** The children of these nodes are not checked, because the form of the whole node was. */
const CHECKED_AS_A_WHOLE: ReadonlySet<string> = new Set(['expansion', 'test_command']);
const SYNTAX_DEPTH_MAX = 100;
/** Larger trees take too long to read. */
const NODES_MAX = 1500;

/** The place of a node in the tree, and of its commands between pipes and files. */
type Place = { depth: number } & Omit<SimpleCommand, 'words'>;

/**
 * Returns every simple command that a script may run, with `\0` for text that only the shell knows.
 * Returns null if other syntax may run a command that is not in the list, such as an assignment,
 * arithmetic or a function, or if it is very large.
 */
export async function readTracedCommands(
  script: string,
  readBash: ReadBash,
): Promise<SimpleCommand[] | null> {
  if (strange().test(script)) return null;
  return readBash(script, (root) => {
    const found: SimpleCommand[] = [];
    const isWhole = isBlank(0, root.startIndex) && isBlank(root.endIndex, script.length);
    return isWhole &&
      !root.hasError &&
      root.descendantCount <= NODES_MAX &&
      trace(root, found, { depth: 0 })
      ? found
      : null;
  });

  /** Adds the commands of a node. Returns false if its syntax may run others. */
  function trace(node: Node, found: SimpleCommand[], place: Place): boolean {
    if (place.depth > SYNTAX_DEPTH_MAX) return false;
    const form = TRACED_FORMS.get(node.type);
    if (
      form === undefined
        ? !TRACED.has(node.type)
        : !form.test(script.slice(node.startIndex, node.endIndex))
    )
      return false;
    if (CHECKED_AS_A_WHOLE.has(node.type)) return true;
    if (!hasPlainParts(node) || !(TEXT.has(node.type) || hasBlankGaps(node))) return false;
    if (node.type === 'command') found.push({ words: commandWords(node), ...flowIn(node, place) });
    return traceAll(node, found, place);
  }

  function traceAll(node: Node, found: SimpleCommand[], place: Place): boolean {
    const start = found.length;
    const inside = { ...flowIn(node, place), depth: place.depth + 1 };
    return node.children.every((child) => {
      const isPiped = node.type === 'pipeline' && found.length > start;
      return (
        !child.isNamed || trace(child, found, isPiped ? { ...inside, pipedFrom: start } : inside)
      );
    });
  }

  /**
   * Whether the text between the children of a node is only blanks. A shell may read other text
   * there differently.
   */
  function hasBlankGaps({ children }: Node): boolean {
    return children.every((child, index) =>
      isBlank(children[index - 1]?.endIndex ?? child.startIndex, child.startIndex),
    );
  }

  function isBlank(start: number, end: number): boolean {
    return BLANK.test(script.slice(start, end));
  }
}

/**
 * False if a word of the node begins or ends a block, if a redirection has words after its target,
 * which would be words of a command, or if a here-document is not plain.
 */
function hasPlainParts(node: Node): boolean {
  if (
    node.type !== 'concatenation' &&
    node.children.some(({ type, text }) => type === 'word' && BLOCK_SIGN.test(text))
  )
    return false;
  if (node.type === 'heredoc_redirect') return isPlainHeredoc(node);
  return (
    node.type !== 'file_redirect' ||
    node.namedChildren.filter(({ type }) => type !== 'file_descriptor').length <= 1
  );
}

/**
 * The parts of a here-document, and of the line in which it begins. Words would be words of a
 * command.
 */
const HEREDOC_PARTS: ReadonlySet<string> = new Set([
  'heredoc_start',
  'heredoc_body',
  'heredoc_end',
  'pipeline',
  'list',
  'file_redirect',
]);

/**
 * Whether a here-document runs no commands and cannot end at an earlier line. The lines after an
 * earlier end would run as commands.
 */
function isPlainHeredoc(node: Node): boolean {
  if (!node.namedChildren.every(({ type }) => HEREDOC_PARTS.has(type))) return false;
  const child = (type: string) => node.children.find((one) => one.type === type)?.text ?? '';
  const start = child('heredoc_start');
  const body = child('heredoc_body');
  const end = start.replace(/['"]/g, '');
  const isPlain = start !== end || !/[`\\]|\$[^\w\s]/.test(body);
  return (
    isPlain &&
    child('heredoc_end').trim() === end &&
    !body.split('\n').some((line) => line.trim() === end)
  );
}

/** Redirections of output, except to another output or to what keeps nothing. */
const KEPT =
  /^\d*(?:>&(?!\d+$|-$)|(?:&>>?|>>|>\||<>|>(?![>&|]))\s*(?!\/dev\/(?:null|stdout|stderr)$))/;

/** The pipes and files of the commands in a node. */
function flowIn(node: Node, { depth: _, ...flow }: Place): Omit<Place, 'depth'> {
  return writesFile(node) ? { ...flow, writesFile: true } : flow;
}

/** Whether the output of a command goes to a file, or to a further command (`>(…)`). */
function writesFile({ type, children }: Node): boolean {
  return (
    (type === 'redirected_statement' || type === 'command') &&
    children.some((child) => child.type === 'file_redirect' && KEPT.test(child.text))
  );
}
