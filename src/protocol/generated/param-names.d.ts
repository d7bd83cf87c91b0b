// Generated from schema/ by `npm run generate`. Do not edit.
/** The names of an object's fields, each with the number of the shape of its value, or of the elements of a list. -1: it is not known. */
export type Shape = Readonly<Record<string, number>>;

/** The number of the shape of each method's params, and the shapes. */
export declare const readParamNames: () => { readonly methods: Readonly<Record<string, number>>; readonly shapes: readonly Shape[] };
