/** A body that is not an object of the kind it is sent as. What it becomes depends on the verb: 400, or 422 for a patch. */
export class DecodeError extends Error {}
