import {
  ApiError,
  asError,
  defineKind,
  fateOf,
  isNotFound,
  jitter,
  type Kind,
  sleep,
  type Stored,
  TenureError,
} from '@tenure/kube'
import { CustomResourceDefinition } from '@tenure/kube/kinds'
import { isApplied } from '../actions/field-set.ts'
import type { JsonMap } from '../actions/json.ts'
import type { Logger } from '../log/logger.ts'
import type { ManagerContext } from '../manager/component.ts'
import { definitionVersion } from './definition-version.ts'
import type { InstallDefinitionsOptions } from './install-definitions.ts'

/** Between two looks at what the server needs a moment for. */
const PAUSE = 100
/** After what failed, and while somebody else has to do something. */
const LONGEST_PAUSE = 10_000
const COMPLAIN_EVERY = 60_000

/** How far a definition is. */
type State = 'served' | 'leaves' | 'awaited'

type Context = Pick<ManagerContext, 'api' | 'clock' | 'random' | 'log'>

/** Brings one definition to the server, and waits until its kinds are served. */
export class DefinitionInstaller {
  readonly #definition: CustomResourceDefinition
  readonly #options: InstallDefinitionsOptions
  readonly #context: Context
  readonly #name: string
  readonly #log: Logger
  #complainedAt = -Infinity

  constructor(definition: CustomResourceDefinition, options: InstallDefinitionsOptions, context: Context) {
    const name = definition.metadata?.name
    if (!name) {
      throw new TenureError('TENURE_DEFINITION_INVALID', 'A CustomResourceDefinition to install has no name.', {
        fate: 'bug',
      })
    }
    this.#definition = definition
    this.#options = options
    this.#context = context
    this.#name = name
    this.#log = context.log.child({ definition: name })
  }

  /**
   * Resolves when it is served, or leaves: it is being deleted and has objects, which may wait for nobody but who is
   * about to start. Rejects if `signal` aborts, or if the server will never take it.
   */
  async run(signal: AbortSignal): Promise<'served' | 'leaves'> {
    return (await this.#until(['served', 'leaves'], signal)) === 'leaves' ? 'leaves' : 'served'
  }

  /** Resolves when it is served, and stays; after it has gone, if it leaves. */
  async runOn(signal: AbortSignal): Promise<void> {
    await this.#until(['served'], signal)
  }

  async #until(wanted: readonly State[], signal: AbortSignal): Promise<State> {
    let pause = PAUSE
    for (;;) {
      signal.throwIfAborted()
      try {
        const state = await this.#step(signal)
        if (wanted.includes(state)) return state
        pause = Math.min(pause * 1.5, 1_000)
      } catch (error) {
        signal.throwIfAborted()
        if (fateOf(error) !== 'retry') throw error
        this.#complain(asError(error))
        pause = Math.min(pause * 2, LONGEST_PAUSE)
      }
      await sleep(this.#context.clock, jitter(this.#context.random, pause, 0.2), signal)
    }
  }

  /** One look, and what it calls for. */
  async #step(signal: AbortSignal): Promise<State> {
    const live = await this.#read(signal)
    if (live?.metadata.deletionTimestamp) {
      this.#complain(new Error('the definition is being deleted; waiting until it is gone'))
      return (await this.#hasObjects(live, signal)) ? 'leaves' : 'awaited'
    }
    const present = await this.#write(live, signal)
    if (!present || !isEstablished(present)) return 'awaited'
    return (await this.#isServed(present, signal)) ? 'served' : 'awaited'
  }

  /** Who may not look can not know. */
  async #hasObjects({ spec }: CustomResourceDefinition, signal: AbortSignal): Promise<boolean> {
    const version = spec.versions.find(({ served }) => served)
    if (!version) return false
    try {
      const { items } = await this.#context.api.list(kindOf(spec, version.name), { limit: 1, signal })
      return items.length > 0
    } catch (error) {
      if (error instanceof ApiError && error.status === 403) return true
      if (isNotFound(error)) return false
      throw error
    }
  }

  async #read(signal: AbortSignal): Promise<Stored<CustomResourceDefinition> | undefined> {
    try {
      return await this.#context.api.get(CustomResourceDefinition, { name: this.#name }, { signal })
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  async #write(
    live: Stored<CustomResourceDefinition> | undefined,
    signal: AbortSignal,
  ): Promise<Stored<CustomResourceDefinition> | undefined> {
    const { install = true, manifest, fieldManager = 'tenure' } = this.#options
    if (!install) {
      if (!live) throw missing(this.#name, manifest)
      return live
    }
    if (live && definitionVersion(live) > definitionVersion(this.#definition)) {
      this.#log.info('definition of a newer edition found, left as it is', { edition: definitionVersion(live) })
      return live
    }
    if (live && this.#isEqual(live, fieldManager)) return live
    try {
      const { apiVersion, kind } = CustomResourceDefinition
      const desired = { ...this.#definition, apiVersion, kind }
      const answer = await this.#context.api.apply(CustomResourceDefinition, desired, {
        force: true,
        fieldManager,
        signal,
      })
      this.#log.info(live ? 'definition upgraded' : 'definition installed')
      return answer
    } catch (error) {
      // Not ours to write, but there: an administrator installed it, and that has to do.
      if (!live || !(error instanceof ApiError) || error.status !== 403) throw error
      this.#complain(error)
      return live
    }
  }

  #isEqual(live: Stored<CustomResourceDefinition>, fieldManager: string): boolean {
    const fields = live.metadata.managedFields?.find(
      ({ manager, operation, subresource }) => manager === fieldManager && operation === 'Apply' && !subresource,
    )?.fieldsV1
    if (fields === undefined) return false
    // Both are JSON, as they come.
    return isApplied(fields, this.#definition as unknown as JsonMap, live as unknown as JsonMap, true)
  }

  /** The server says that a definition is established a moment before it answers requests for its objects. */
  async #isServed({ spec }: CustomResourceDefinition, signal: AbortSignal): Promise<boolean> {
    for (const version of spec.versions) {
      if (version.served && !(await this.#answers(kindOf(spec, version.name), signal))) return false
    }
    return true
  }

  async #answers(kind: Kind, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#context.api.list(kind, { limit: 1, signal })
      return true
    } catch (error) {
      // Who may not list learns at least that there is something to list.
      if (error instanceof ApiError && error.status === 403) return true
      if (isNotFound(error)) return false
      throw error
    }
  }

  /** A line a minute: it is the same each time. */
  #complain(error: Error): void {
    const now = this.#context.clock.monotonic()
    if (now - this.#complainedAt < COMPLAIN_EVERY) return
    this.#complainedAt = now
    this.#log.warn('waiting for the definition', { error })
  }
}

function isEstablished({ status }: CustomResourceDefinition): boolean {
  return (
    status?.conditions?.some((condition) => condition.type === 'Established' && condition.status === 'True') ?? false
  )
}

function kindOf({ group, names, scope }: CustomResourceDefinition['spec'], version: string): Kind {
  const apiVersion = `${group}/${version}`
  return defineKind({ apiVersion, kind: names.kind, plural: names.plural, namespaced: scope === 'Namespaced' })
}

function missing(name: string, manifest: string | undefined): TenureError {
  return new TenureError(
    'TENURE_DEFINITION_MISSING',
    `The CustomResourceDefinition ${name} is not installed, and installing it is turned off. Apply ${manifest ?? `the manifest of ${name}`}, or turn installing on.`,
    { fate: 'retry' },
  )
}
