import type { Node } from 'web-tree-sitter';
import type { ReadBash } from './bash-parser.ts';
import { looseWord } from './loose-word.ts';
import { programName } from './program-name.ts';

type Words = readonly string[];

/** Programs that run what their arguments name. */
const RUNNERS: ReadonlySet<string> = new Set(
  (
    '. bash busybox builtin caffeinate chpst chroot chrt command coproc csh dash doas entr env eval exec fd fdfind find firejail fish ' +
    'flock git gosu ionice ksh ltrace make mksh nice nohup nsenter numactl parallel pkexec proot rlwrap run0 runuser schedtool ' +
    'script setarch setpriv setsid sh source ssh start-stop-daemon stdbuf strace su sudo systemd-run taskset time timeout ' +
    'toybox trap tcsh unbuffer unshare watch xargs xvfb-run zsh'
  ).split(' '),
);
const SCRIPT_LIKE = /[\s;&|()'"\\`$]/;
const DEPTH_MAX = 8;
const MENTIONS_MAX = 2000;
const NODE_DEPTH_MAX = 500;
/** May be anything: what was too much to read. */
const UNKNOWN: Words = ['\0'];

/**
 * The words of everything in a command that may itself be run as a command. Rather too many than too few; text that only
 * the shell knows is `\0` in them.
 */
export function findMentions(argv: Words, readBash: ReadBash): readonly Words[] {
  const found: Words[] = [];
  addCommand(argv, 0);
  return found;

  function addCommand(words: Words, depth: number): void {
    const [program = ''] = words;
    if (program === '') return;
    if (found.length >= MENTIONS_MAX || depth > DEPTH_MAX) {
      found.push(UNKNOWN);
      return;
    }
    found.push(words);
    if (RUNNERS.has(programName(program))) addArguments(words.slice(1), depth + 1);
  }

  /** Each argument may be what is run, or a script, or hold either behind a `=`; or all of them together are a script. */
  function addArguments(args: Words, depth: number): void {
    for (const [index, arg] of args.entries()) {
      if (found.length >= MENTIONS_MAX) return;
      addArgument(arg, args.slice(index + 1), depth);
    }
    if (args.length > 1) addScript(args.join(' '), depth);
  }

  function addArgument(arg: string, following: Words, depth: number): void {
    for (const text of new Set([arg, arg.slice(arg.indexOf('=') + 1)])) {
      if (SCRIPT_LIKE.test(text)) addScript(text, depth);
      else addCommand([text, ...following], depth);
    }
  }

  function addScript(script: string, depth: number): void {
    const read = readBash(script, (root) => {
      addNode(root, depth, 0);
      return true;
    });
    if (read === null) found.push(UNKNOWN);
  }

  function addNode(node: Node, depth: number, nodeDepth: number): void {
    if (nodeDepth > NODE_DEPTH_MAX) {
      found.push(UNKNOWN);
      return;
    }
    if (node.type === 'command') addCommand(commandWords(node), depth);
    for (const child of node.children) if (child.isNamed) addNode(child, depth, nodeDepth + 1);
  }
}

function commandWords(node: Node): string[] {
  return node.children.filter((child) => child.isNamed && !NO_WORDS.has(child.type)).map(looseWord);
}

/** What a command has beside its words. */
const NO_WORDS: ReadonlySet<string> = new Set([
  'variable_assignment',
  'file_redirect',
  'herestring_redirect',
  'heredoc_redirect',
  'comment',
]);
