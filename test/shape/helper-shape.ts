import { posix } from 'node:path';
import { isNode, type Node, nodesOf, type SourceFile } from './read-source.ts';

/** Shorter helpers may stand twice: an import takes as much. In characters. */
const HELPER_CHARS_MIN = 60;

/** The fields of nodes that are types, or say how something is written. */
const UNWRITTEN = [
  'end',
  'raw',
  'returnType',
  'shorthand',
  'start',
  'typeAnnotation',
  'typeArguments',
  'typeParameters',
];

/** A function at the top level of a file. */
interface Helper {
  name: string;
  path: string;
  /** The same for two functions that do the same, whatever they and their variables are called. */
  body: string;
}

/**
 * The functions at the top level that stand with the same body in several of these files, a line
 * for each body. Types do not count, nor do the names of parameters, variables and the function
 * itself. Other names count as what they stand for: an import, or a declaration of the file.
 */
export function helpersTwice(files: readonly SourceFile[]): string[] {
  const same = new Map<string, Helper[]>();
  for (const helper of files.flatMap(helpersIn)) {
    same.set(helper.body, [...(same.get(helper.body) ?? []), helper]);
  }
  return [...same.values()]
    .filter((helpers) => new Set(helpers.map(({ path }) => path)).size > 1)
    .map((helpers) => helpers.map(({ path, name }) => `${path}: ${name}`).join(', '))
    .sort();
}

function helpersIn(file: SourceFile): Helper[] {
  const meanings = meaningsIn(file);
  return [...declarationsIn(file)].flatMap(([name, node]) => {
    const length = node.end - node.start;
    if (!isFunction(node) || length < HELPER_CHARS_MIN) return [];
    return [{ name, path: file.path, body: textOf(node, new Map([[name, 'itself']]), meanings) }];
  });
}

function isFunction(node: Node): boolean {
  return node.type === 'FunctionDeclaration' || node.type === 'ArrowFunctionExpression';
}

/** What the file declares at its top level, by name: functions, and the values of constants. */
function declarationsIn({ program }: SourceFile): Map<string, Node> {
  const body = program.type === 'Program' ? program.body : [];
  const declarations = body.map((statement) =>
    statement.type === 'ExportNamedDeclaration' && statement.declaration !== null
      ? statement.declaration
      : statement,
  );
  return new Map(
    declarations.flatMap((node): [string, Node][] => {
      if (node.type === 'VariableDeclaration') {
        return node.declarations.flatMap(({ id, init }): [string, Node][] =>
          id.type === 'Identifier' && init !== null ? [[id.name, init]] : [],
        );
      }
      return 'id' in node && node.id?.type === 'Identifier' ? [[node.id.name, node]] : [];
    }),
  );
}

/** What a name stands for at the top level of the file, in words that all files share. */
function meaningsIn(file: SourceFile): (name: string) => string {
  const known = new Map(importsIn(file));
  const declarations = declarationsIn(file);
  const meaningOf = (name: string): string => {
    const meaning = known.get(name);
    if (meaning !== undefined) return meaning;
    // Until it is known, its name stands for it where it refers to itself.
    known.set(name, name);
    const node = declarations.get(name);
    const found =
      node === undefined ? name : `(${textOf(node, new Map([[name, 'itself']]), meaningOf)})`;
    known.set(name, found);
    return found;
  };
  return meaningOf;
}

function importsIn({ path, program }: SourceFile): [string, string][] {
  return [...nodesOf(program)].flatMap((node) => {
    if (node.type !== 'ImportDeclaration') return [];
    const from = node.source.value.startsWith('.')
      ? posix.join(posix.dirname(path), node.source.value)
      : node.source.value;
    return node.specifiers.map((one): [string, string] => {
      const imported =
        one.type === 'ImportSpecifier' && 'name' in one.imported ? one.imported.name : one.type;
      return [one.local.name, `${from}#${imported}`];
    });
  });
}

/** The node as text in which own names are numbers, and others what they stand for. */
function textOf(node: Node, own: Map<string, string>, meaningOf: (name: string) => string): string {
  for (const name of [...nodesOf(node)].flatMap(namesBoundBy)) {
    if (!own.has(name)) own.set(name, `own${own.size}`);
  }
  return JSON.stringify(node, (key, value: unknown) => {
    if (typeof value === 'bigint') return String(value);
    if (UNWRITTEN.includes(key)) return undefined;
    return isNode(value) ? plain(value, (name) => own.get(name) ?? meaningOf(name)) : value;
  });
}

/** The node without types, and the same for each way to write the same. */
function plain(node: Node, meaningOf: (name: string) => string): object | string {
  switch (node.type) {
    case 'Identifier':
      return meaningOf(node.name);
    case 'TSAsExpression':
    case 'TSNonNullExpression':
    case 'TSSatisfiesExpression':
      return plain(node.expression, meaningOf);
    case 'ArrowFunctionExpression': {
      const { params, async, body } = node;
      const returned = { type: 'ReturnStatement', argument: body };
      return { function: [async, false, params, node.expression ? [returned] : body] };
    }
    case 'FunctionDeclaration':
    case 'FunctionExpression':
      return { function: [node.async, node.generator, node.params, node.body] };
    case 'BlockStatement':
      return node.body;
    case 'MemberExpression':
      return node.computed ? node : { of: node.object, property: `.${sourceName(node.property)}` };
    case 'Property':
      return node.computed ? node : { value: node.value, property: `.${sourceName(node.key)}` };
    default:
      return node;
  }
}

/** A name that stands for itself. */
function sourceName(node: Node): string {
  return 'name' in node && typeof node.name === 'string' ? node.name : JSON.stringify(node);
}

/** The names that a node binds: parameters, variables, inner functions. */
function namesBoundBy(node: Node): string[] {
  if (node.type === 'VariableDeclarator') return namesIn(node.id);
  if (node.type === 'CatchClause') return node.param === null ? [] : namesIn(node.param);
  if ('params' in node && Array.isArray(node.params)) {
    const named = 'id' in node && node.id?.type === 'Identifier' ? [node.id.name] : [];
    return [...named, ...(node.params as Node[]).flatMap(namesIn)];
  }
  return [];
}

/** The names in a pattern. */
function namesIn(pattern: Node): string[] {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern.name];
    case 'ObjectPattern':
      return pattern.properties.flatMap((one) =>
        namesIn(one.type === 'RestElement' ? one.argument : one.value),
      );
    case 'ArrayPattern':
      return pattern.elements.flatMap((one) => (one === null ? [] : namesIn(one)));
    case 'AssignmentPattern':
      return namesIn(pattern.left);
    case 'RestElement':
      return namesIn(pattern.argument);
    default:
      return [];
  }
}
