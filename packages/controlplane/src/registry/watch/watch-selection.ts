import type { KubeObject } from '@tenure/kube'
import type { Change, StoredObject } from '../../storage/types.ts'
import { asRead, leftSelectionAt, inVersion } from '../decode/derived-object.ts'
import type { WatchItem } from '../request.ts'
import type { ResourceDefinition } from '../types.ts'

export interface WatchSelectionOptions {
  readonly definition: ResourceDefinition
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined
  /** Undefined: all objects. */
  readonly matches: ((object: KubeObject) => boolean) | undefined
}

/** The events that a watch sends for each change. Watches of the same selection share it, so that each event is made once. */
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

  /** The event for a change; undefined: none. The same item for all callers before the next change. */
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
    // A deletion and leaving the selection are both deletions for the watch.
    const before = asRead(previous, this.#definition)
    const last = (current || before !== previous ? undefined : deleted) ?? leftSelectionAt(before, revision)
    return { type: 'DELETED', stored: inVersion(last, this.#definition) }
  }
}

interface Shared {
  readonly selection: WatchSelection
  users: number
}

const open = new WeakMap<ResourceDefinition, Map<string, Shared>>()

/** The selection shared by all open watches that ask for the same; call `release` when a watch ends. */
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
