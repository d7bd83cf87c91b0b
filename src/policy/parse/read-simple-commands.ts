import type { Node } from 'web-tree-sitter';
import { latePattern } from '../../base/text/late-pattern.ts';
import type { ReadBash } from './bash-reader.ts';
import { decodeExactWord } from './decode-exact-word.ts';
import type { SimpleCommand } from './simple-command.ts';

const OPERATORS: ReadonlySet<string> = new Set(['&&', '||', '|', ';', '\n']);
const LISTS: ReadonlySet<string> = new Set(['program', 'list', 'pipeline']);
// A line continuation alone does not separate two words, or split an operator.
const BETWEEN_WORDS = /^(?:\\\n)*[ \t](?:[ \t]|\\\n)*$/;
const BETWEEN_COMMANDS = /^(?:(?:\\\n)*[ \t\n](?:[ \t\n]|\\\n)*)?$/;
/**
 * Unusual whitespace, control characters and invisible characters: shells and people read them
 * differently.
 */
const strange = latePattern(() => /(?![ \t\n])[\p{Z}\p{C}]/u);
/** Words that bash or zsh reads as syntax in the position of a command name. */
const RESERVED: ReadonlySet<string> = new Set(
  (
    '! { } [[ ]] - case coproc do done elif else esac fi for function if in select then time until while ' +
    'always end foreach nocorrect noglob repeat'
  ).split(' '),
);
const SYNTAX_DEPTH_MAX = 100;

/**
 * Returns each simple command of a script, in order. Returns null if the script has anything except
 * plain commands joined by `&&`, `||`, `;`, `|` and line ends, for example a redirection, an
 * expansion, a pattern or an assignment.
 */
export async function readSimpleCommands(
  script: string,
  readBash: ReadBash,
): Promise<SimpleCommand[] | null> {
  if (strange().test(script)) return null;
  return readBash(script, (root) => {
    if (root.hasError) return null;
    const found: SimpleCommand[] = [];
    return gaps(root, 0, script.length).every((gap) => BETWEEN_COMMANDS.test(gap)) &&
      readList(root, found, 0)
      ? found
      : null;
  });

  /** Returns the text between the children of a node, before the first and after the last. */
  function gaps(node: Node, start = node.startIndex, end = node.endIndex): string[] {
    const edges = [
      start,
      ...node.children.flatMap((child) => [child.startIndex, child.endIndex]),
      end,
    ];
    return edges.flatMap((edge, index) =>
      index % 2 === 0 ? [script.slice(edge, edges[index + 1])] : [],
    );
  }

  function readList(list: Node, found: SimpleCommand[], depth: number): boolean {
    const pipeStart = list.type === 'pipeline' ? found.length : null;
    return list.children.every((child) => {
      if (!child.isNamed) return OPERATORS.has(child.type);
      if (child.type === 'comment') return true;
      if (child.type === 'command') return addCommand(child, found, pipeStart);
      return depth <= SYNTAX_DEPTH_MAX && readLists(child, found, depth);
    });
  }

  function readLists(child: Node, found: SimpleCommand[], depth: number): boolean {
    return (
      LISTS.has(child.type) &&
      gaps(child).every((gap) => BETWEEN_COMMANDS.test(gap)) &&
      readList(child, found, depth + 1)
    );
  }

  /**
   * `pipeStart`: the index of the first command of the pipeline that it is in. Null: it is in none.
   */
  function addCommand(node: Node, found: SimpleCommand[], pipeStart: number | null): boolean {
    const words = readCommand(node);
    if (words === null) return false;
    found.push({
      words,
      ...(pipeStart !== null && found.length > pipeStart && { pipedFrom: pipeStart }),
    });
    return true;
  }

  function readCommand(node: Node): string[] | null {
    const [first, ...others] = gaps(node);
    const last = others.pop();
    if (first !== '' || last !== '' || !others.every((gap) => BETWEEN_WORDS.test(gap))) return null;
    const words = node.children.map((child, index) => {
      if (index > 0) return decodeExactWord(child);
      const name = child.type === 'command_name' && child.childCount === 1 ? child.child(0) : null;
      return name === null || RESERVED.has(name.text) || name.text.includes('=')
        ? null
        : decodeExactWord(name);
    });
    return words.length > 0 && words.every((word) => word !== null) ? words : null;
  }
}
