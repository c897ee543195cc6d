/** A body that is not an object of its kind. The verb decides the response: 400, or 422 for a patch. */
export class DecodeError extends Error {}
