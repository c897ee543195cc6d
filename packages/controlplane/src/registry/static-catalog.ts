import type { ResourceCatalog, ResourceDefinition } from './types.ts'

/** A catalog that never changes. */
export class StaticCatalog implements ResourceCatalog {
  readonly #definitions: readonly ResourceDefinition[]
  readonly #found: ReadonlyMap<string, ResourceDefinition>

  constructor(definitions: readonly ResourceDefinition[]) {
    this.#definitions = definitions
    this.#found = new Map(
      definitions.map((definition) => [keyOf(definition.group, definition.version, definition.plural), definition]),
    )
  }

  find(group: string, version: string, plural: string): ResourceDefinition | undefined {
    return this.#found.get(keyOf(group, version, plural))
  }

  all(): readonly ResourceDefinition[] {
    return this.#definitions
  }

  onChange(): () => void {
    return () => undefined
  }
}

const keyOf = (group: string, version: string, plural: string): string => `${group}/${version}/${plural}`
