export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string }

/** A patch and its media type. */
export interface Patch {
  readonly contentType: string
  readonly body: unknown
}

/** RFC 6902: a list of operations. A `test` operation makes it conditional. */
export function jsonPatch(operations: readonly JsonPatchOperation[]): Patch {
  return { contentType: 'application/json-patch+json', body: operations }
}

/** RFC 7386: fields replace, null removes, lists are replaced as a whole. */
export function mergePatch(body: object): Patch {
  return { contentType: 'application/merge-patch+json', body }
}

/** Strategic merge patch: lists merge by key. Built-in kinds only. */
export function strategicPatch(body: object): Patch {
  return { contentType: 'application/strategic-merge-patch+json', body }
}

/** An escaped JSON pointer: jsonPointer('metadata', 'annotations', 'a/b'). */
export function jsonPointer(...segments: readonly (string | number)[]): string {
  return segments.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
