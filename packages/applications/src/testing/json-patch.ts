/** An operation of a JSON Patch. */
export interface Added {
  readonly op: string
  readonly path: string
  readonly value: unknown
}

/** Applies `add` operations to objects and to the end of lists. Fails if the parent is missing, as the API server does. */
export function applied(object: unknown, operations: readonly Added[]): unknown {
  const result = structuredClone(object)
  for (const { path, value } of operations) {
    const keys = path
      .split('/')
      .slice(1)
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    let parent = result as Record<string, unknown>
    for (const key of keys.slice(0, -1)) {
      if (!Object.hasOwn(parent, key)) throw new Error(`${path} has no parent`)
      parent = parent[key] as Record<string, unknown>
    }
    if (Array.isArray(parent)) parent.push(value)
    else parent[keys.at(-1) ?? ''] = value
  }
  return result
}
