import { type Kind, kindKey, type KubeObject, type Selection, TenureError } from '@tenure/kube'
import type { DeclaredKind } from '../actions/context.ts'
import { JoinedCache } from '../informer/cache/joined-cache.ts'
import type { Informer, Informers } from '../informer/types.ts'
import { type ControllerDefinition, ownedKind, type Watch } from './definition.ts'

/** An informer of a declared kind and its role. */
export type Source =
  | { readonly role: 'primary' | 'owned'; readonly informer: Informer<KubeObject> }
  | { readonly role: 'watched'; readonly informer: Informer<KubeObject>; readonly watch: Watch }

/** The kinds a controller declared: the one it controls, those it owns, those it watches. */
export class DeclaredKinds {
  /** Those of the definition. */
  readonly sources: readonly Source[]
  readonly primary: Informer<KubeObject>
  readonly #controller: string
  readonly #informers: Informers
  readonly #byName = new Map<string, DeclaredKind>()
  /** By identity, so that a read does not build a string key. */
  #byKind = new WeakMap<Kind, DeclaredKind>()

  constructor(definition: ControllerDefinition, informers: Informers) {
    this.#controller = definition.name
    this.#informers = informers
    const inform = (kind: Kind, selection?: Selection): Informer<KubeObject> => informers.informer(kind, selection)
    this.primary = inform(definition.kind, definition.selection)
    for (const [name, index] of Object.entries(definition.indexes ?? {})) this.primary.addIndex(name, index)
    const sources: Source[] = [{ role: 'primary', informer: this.primary }]
    for (const owned of definition.owns ?? []) {
      const { kind, selection } = ownedKind(owned)
      sources.push({ role: 'owned', informer: inform(kind, selection) })
    }
    for (const watch of definition.watches ?? []) {
      const informer = inform(watch.kind, watch.selection)
      for (const [name, index] of Object.entries(watch.indexes)) informer.addIndex(name, index)
      sources.push({ role: 'watched', informer, watch })
    }
    this.sources = sources
    for (const { informer, role } of sources) {
      const name = kindKey(informer.kind)
      // For a kind that is declared twice, reads use the first cache.
      const { kind, cache } = this.#byName.get(name) ?? informer
      const owned = role === 'owned' || (this.#byName.get(name)?.owned ?? false)
      this.#byName.set(name, { kind, cache, owned })
    }
  }

  /** Declares a kind of children that an object names. Undefined: it is declared as owned already. */
  addOwned(kind: Kind, selection: Selection | undefined): Source | undefined {
    const known = this.find(kind)
    if (known?.owned) return undefined
    // A kind that the server does not serve concerns the objects that name it, not the readiness of the process.
    const informer: Informer<KubeObject> = this.#informers.informer(kind, selection, { optional: true })
    // The kind may also be the controller's own or a watched one, with another selection.
    const isJoined = known !== undefined && known.cache !== informer.cache
    const cache = isJoined ? new JoinedCache(known.cache, informer.cache) : informer.cache
    this.#byName.set(kindKey(kind), { kind: known?.kind ?? kind, cache, owned: true })
    this.#byKind = new WeakMap()
    return { role: 'owned', informer }
  }

  find(kind: Kind): DeclaredKind | undefined {
    const known = this.#byKind.get(kind)
    if (known) return known
    const declared = this.#byName.get(kindKey(kind))
    if (declared) this.#byKind.set(kind, declared)
    return declared
  }

  /**
   * The declared kind for a read. Throws if it is not cached, or cached as metadata although whole objects are
   * expected.
   */
  readable(kind: Kind): DeclaredKind {
    const declared = this.find(kind)
    if (declared && (kind.representation === 'metadata' || declared.kind.representation === 'full')) return declared
    throw new TenureError(
      'TENURE_KIND_UNDECLARED',
      declared
        ? `The controller ${this.#controller} reads whole ${kind.kind} objects but declares only their metadata. Declare the kind itself.`
        : `The controller ${this.#controller} reads ${kind.kind} objects but does not watch that kind. Add it to its owns or watches.`,
      { fate: 'bug' },
    )
  }
}
