/** A patch cannot be applied. The message is for the model. */
export class PatchError extends Error {}
