import { type Node, nodesOf, type SourceFile } from './read-source.ts';

/** An interface and its members. */
interface Declared {
  name: string;
  path: string;
  members: readonly Node[];
}

/**
 * The interfaces that stand for what others do: a third of their members or more are functions, or
 * objects that have some. Contracts, which a class implements, are none.
 */
export function collaborators(files: readonly SourceFile[]): Declared[] {
  const classes = files
    .flatMap(({ program }) => [...nodesOf(program)])
    .flatMap((node) => (node.type === 'ClassDeclaration' ? [node] : []));
  const contracts = new Set(classes.flatMap((node) => node.implements ?? []).map(nameOf));
  const interfaces = interfacesIn(files).filter(({ name }) => !contracts.has(name));
  const active = new Set([
    ...classes.flatMap(({ id }) => (id === null ? [] : [id.name])),
    ...interfacesIn(files)
      .filter(({ members }) => members.some(isFunction))
      .map(({ name }) => name),
  ]);
  const acts = (member: Node) =>
    isFunction(member) ||
    [...nodesOf(member)].some(
      (node) => node.type === 'TSTypeReference' && active.has(nameOf(node)),
    );
  return interfaces.filter(({ members }) => members.filter(acts).length * 3 >= members.length);
}

/** The members of the interface of that name; none if there is none. */
export function membersOf(files: readonly SourceFile[], name: string): readonly Node[] {
  return interfacesIn(files).find((one) => one.name === name)?.members ?? [];
}

/** The names that several files export, with the files. Methods of handlers aside. */
export function namesTwice(files: readonly SourceFile[]): string[] {
  const places = new Map<string, string[]>();
  for (const { path, program } of files) {
    for (const name of new Set([...nodesOf(program)].flatMap(exportedNames))) {
      places.set(name, [...(places.get(name) ?? []), path]);
    }
  }
  return [...places]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name}: ${paths.join(', ')}`)
    .sort();
}

function interfacesIn(files: readonly SourceFile[]): Declared[] {
  return files.flatMap(({ path, program }) =>
    [...nodesOf(program)].flatMap((node) =>
      node.type === 'TSInterfaceDeclaration'
        ? [{ name: node.id.name, path, members: node.body.body }]
        : [],
    ),
  );
}

function isFunction(member: Node): boolean {
  if (member.type === 'TSMethodSignature') return true;
  if (member.type !== 'TSPropertySignature') return false;
  return member.typeAnnotation?.typeAnnotation.type === 'TSFunctionType';
}

/** The name that a reference or an `implements` has; of a qualified name, none. */
function nameOf(node: Node): string {
  const named =
    node.type === 'TSTypeReference'
      ? node.typeName
      : node.type === 'TSClassImplements'
        ? node.expression
        : null;
  return named?.type === 'Identifier' ? named.name : '';
}

function exportedNames(node: Node): string[] {
  if (node.type !== 'ExportNamedDeclaration' || node.source !== null) return [];
  const { declaration } = node;
  if (declaration === null) return [];
  if (declaration.type === 'VariableDeclaration') {
    return declaration.declarations.flatMap(({ id }) =>
      id.type === 'Identifier' ? [id.name] : [],
    );
  }
  return 'id' in declaration && declaration.id?.type === 'Identifier' ? [declaration.id.name] : [];
}
