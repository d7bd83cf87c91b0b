import type { Node } from 'web-tree-sitter';
import type { ReadBash } from './bash-reader.ts';
import { commandWords } from './command-words.ts';

/** Unusual whitespace, control characters and invisible characters, and continued lines: shells read them differently. */
const STRANGE = /(?![ \t\n])[\p{Z}\p{C}]|\\\n/u;
/** Syntax in which every program that starts is one of the commands in it. */
const TRACED: ReadonlySet<string> = new Set(
  (
    'program list pipeline command command_name subshell negated_command redirected_statement file_redirect file_descriptor ' +
    'herestring_redirect heredoc_start heredoc_content heredoc_end comment if_statement elif_clause else_clause while_statement ' +
    'do_group word number raw_string ansi_c_string string string_content concatenation brace_expression simple_expansion ' +
    'variable_name special_variable_name command_substitution process_substitution'
  ).split(' '),
);
/** Further syntax, if its text has this form. Other forms run code in subscripts, or change what names mean. */
const TRACED_FORMS: ReadonlyMap<string, RegExp> = new Map([
  ['expansion', /^\$\{\w+\}$/],
  ['compound_statement', /^\{[^(]/],
  ['test_command', /^\[ (?:! )?-[defhLrswxzn] [\w./-]+ \]$/],
  // In zsh, some names mean more than the name, such as `path`.
  ['for_statement', /^for\s+(?:[a-z]|dir|file|item|line|name|num|page|part)\s/],
  ['heredoc_redirect', /^<<-?\s*(?:\w+|'\w+'|"\w+")\s/],
]);
/** Below these, the form of the whole has been checked. */
const CHECKED_AS_A_WHOLE: ReadonlySet<string> = new Set(['expansion', 'test_command']);
const DEPTH_MAX = 100;

/**
 * Returns the words of every simple command that a script may run, with `\0` for text that only the shell knows. Returns null if
 * other syntax may run a command that is not in the list, such as an assignment, arithmetic or a function.
 */
export async function readTracedCommands(script: string, readBash: ReadBash): Promise<string[][] | null> {
  if (STRANGE.test(script)) return null;
  return readBash(script, (root) => {
    const found: string[][] = [];
    return !root.hasError && trace(root, found, 0) ? found : null;
  });
}

/** Adds the commands of a node. Returns false if its syntax may run others. */
function trace(node: Node, found: string[][], depth: number): boolean {
  if (depth > DEPTH_MAX) return false;
  if (node.type === 'heredoc_body') return traceChildren(node, found, depth);
  const form = TRACED_FORMS.get(node.type);
  if (form === undefined ? !TRACED.has(node.type) : !form.test(node.text)) return false;
  if (CHECKED_AS_A_WHOLE.has(node.type)) return true;
  if (node.type === 'heredoc_redirect' && !endsWhereItSays(node)) return false;
  if (node.type === 'command') found.push(commandWords(node));
  return traceChildren(node, found, depth);
}

function traceChildren(node: Node, found: string[][], depth: number): boolean {
  return node.children.every((child) => !child.isNamed || trace(child, found, depth + 1));
}

/** Whether no line of a here-document could end it earlier: the text after such a line would be commands. */
function endsWhereItSays(node: Node): boolean {
  const child = (type: string) => node.children.find((one) => one.type === type)?.text ?? '';
  const end = child('heredoc_start').replace(/['"]/g, '');
  const lines = child('heredoc_body').split('\n');
  return child('heredoc_end').trim() === end && !lines.some((line) => line.trim() === end);
}
