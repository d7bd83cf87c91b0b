import { type Definitions, definitionName, type MethodTable, type Schema } from './bundle.ts';

/**
 * The names of an object's fields, each with the number of the shape of its value. -1: nothing is
 * known about the value.
 */
type Shape = Record<string, number>;

const OPEN = -1;

/** What other programs or models write: it may have further fields, which heddle keeps. */
const FOREIGN = new Set(['ResponseItem', 'JsonValue']);

/**
 * The table of the names in the params of each request, as an ES module. The table is made when it
 * is first asked for.
 */
export function generateParamNames(definitions: Definitions, methods: MethodTable): string {
  const names = new ParamNames(definitions);
  const roots = Object.entries(methods.clientRequests).flatMap(
    ([method, { params }]): [string, number][] => {
      const root = params
        ? names.shapeOf([{ $ref: `#/definitions/${definitionName(params)}` }])
        : OPEN;
      return root === OPEN ? [] : [[method, root]];
    },
  );
  const table = { methods: Object.fromEntries(roots), shapes: names.shapes };
  return `// Generated from schema/ by \`npm run generate\`. Do not edit.
export const readParamNames = () => JSON.parse(${JSON.stringify(JSON.stringify(table)).replaceAll("'", "\\'")});
`;
}

export const PARAM_NAMES_TYPES = `// Generated from schema/ by \`npm run generate\`. Do not edit.
/** The names of an object's fields, each with the number of the shape of its value, or of the elements of a list. -1: it is not known. */
export type Shape = Readonly<Record<string, number>>;

/** The number of the shape of each method's params, and the shapes. */
export declare const readParamNames: () => { readonly methods: Readonly<Record<string, number>>; readonly shapes: readonly Shape[] };
`;

class ParamNames {
  readonly shapes: Shape[] = [];
  readonly #definitions: Definitions;
  /** The number of each shape, by the schemas that it is of. */
  readonly #known = new Map<string, number>();

  constructor(definitions: Definitions) {
    this.#definitions = definitions;
  }

  /** The shape of a value that one of these schemas describes: the names of all of them. */
  shapeOf(schemas: readonly Schema[]): number {
    const objects = schemas.flatMap((schema) => this.#objects(schema));
    if (objects.length === 0 || objects.some((object) => object === null)) return OPEN;
    const all = objects.filter((object) => object !== null);
    const key = JSON.stringify(all);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const number = this.shapes.push({}) - 1;
    this.#known.set(key, number);
    const names = new Set(all.flatMap(({ properties = {} }) => Object.keys(properties)));
    this.shapes[number] = Object.fromEntries(
      [...names].map((name) => [
        name,
        this.shapeOf(
          all.flatMap(({ properties = {} }) => (properties[name] ? [properties[name]] : [])),
        ),
      ]),
    );
    return number;
  }

  /**
   * The objects that a schema describes. Null among them: any object. Elements of lists count as
   * the value itself.
   */
  #objects(schema: Schema): (Schema | null)[] {
    if (schema.$ref !== undefined) {
      const name = definitionName(schema.$ref);
      return FOREIGN.has(name) ? [null] : this.#objects(this.#definitions[name] ?? {});
    }
    const {
      properties,
      additionalProperties,
      items,
      type,
      anyOf = [],
      oneOf = [],
      allOf = [],
    } = schema;
    const parts = [...anyOf, ...oneOf, ...allOf];
    const isOpen =
      additionalProperties === true || typeof additionalProperties === 'object' || items === true;
    const isAny =
      type === undefined &&
      schema.enum === undefined &&
      schema.const === undefined &&
      parts.length === 0 &&
      !properties;
    if (isOpen || isAny || (type === 'object' && !properties && parts.length === 0)) return [null];
    const own = properties === undefined ? [] : [schema];
    return [
      ...own,
      ...parts.flatMap((part) => this.#objects(part)),
      ...(typeof items === 'object' ? this.#objects(items) : []),
    ];
  }
}
