import type { KubeObject } from '@tenure/kube'
import type { Change, StoredObject } from '../../storage/types.ts'
import { asRead, departedAt, inVersion } from '../decode/derived-object.ts'
import type { WatchItem } from '../request.ts'
import type { ResourceDefinition } from '../types.ts'

export interface WatchSelectionOptions {
  readonly definition: ResourceDefinition
  /** Undefined: all of them. */
  readonly namespace: string | undefined
  /** Undefined: every object. */
  readonly matches: ((object: KubeObject) => boolean) | undefined
}

/** What a watch shows of each change. Watches of the same things have one together, so that it is worked out once. */
export class WatchSelection {
  readonly #definition: ResourceDefinition
  readonly #prefix: string | undefined
  readonly #matches: ((object: KubeObject) => boolean) | undefined
  #change: Change | undefined
  #item: WatchItem | undefined

  constructor({ definition, namespace, matches }: WatchSelectionOptions) {
    this.#definition = definition
    this.#prefix = namespace === undefined ? undefined : `${namespace}/`
    this.#matches = matches
  }

  selects(stored: StoredObject | undefined): boolean {
    return stored !== undefined && (this.#matches?.(asRead(stored, this.#definition).object) ?? true)
  }

  /** What is shown of a change; undefined: nothing. The same item for all who ask before the next change. */
  itemFor(change: Change): WatchItem | undefined {
    if (change !== this.#change) {
      this.#item = this.#see(change)
      this.#change = change
    }
    return this.#item
  }

  #see({ key, previous, current, deleted, revision }: Change): WatchItem | undefined {
    if (this.#prefix !== undefined && !key.startsWith(this.#prefix)) return undefined
    const was = this.selects(previous)
    if (current && this.selects(current)) {
      return { type: was ? 'MODIFIED' : 'ADDED', stored: inVersion(current, this.#definition) }
    }
    if (!was || !previous) return undefined
    // Gone, or out of sight: both are the end of it for who watches the selection.
    const before = asRead(previous, this.#definition)
    const last = (current || before !== previous ? undefined : deleted) ?? departedAt(before, revision)
    return { type: 'DELETED', stored: inVersion(last, this.#definition) }
  }
}

interface Shared {
  readonly selection: WatchSelection
  users: number
}

const open = new WeakMap<ResourceDefinition, Map<string, Shared>>()

/** The selection of all open watches that ask for the same; `release` when a watch ends. */
export function shareSelection(
  options: WatchSelectionOptions,
  selectors: { readonly labelSelector?: string; readonly fieldSelector?: string },
): { readonly selection: WatchSelection; release(): void } {
  const { definition, namespace = '' } = options
  const { labelSelector = '', fieldSelector = '' } = selectors
  let selections = open.get(definition)
  if (!selections) open.set(definition, (selections = new Map()))
  const asked = JSON.stringify([namespace, labelSelector, fieldSelector])
  let shared = selections.get(asked)
  if (!shared) selections.set(asked, (shared = { selection: new WatchSelection(options), users: 0 }))
  const { selection } = shared
  shared.users++
  const release = (): void => {
    if (--shared.users === 0) selections.delete(asked)
  }
  return { selection, release }
}
