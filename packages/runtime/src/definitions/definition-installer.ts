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
import type { JsonObject } from '@tenure/kube/model'
import type { Logger } from '../log/logger.ts'
import type { OperatorContext } from '../manager/component.ts'
import { definitionVersion } from './definition-version.ts'
import type { InstallDefinitionsOptions } from './install-definitions.ts'

/** Milliseconds between polls while the server establishes a definition. */
const POLL_INTERVAL_MS = 100
/** Maximum milliseconds between retries after a failure, or while another actor has to act. */
const MAX_BACKOFF_MS = 10_000
/** Minimum milliseconds between two warnings about the same definition. */
const WARNING_INTERVAL_MS = 60_000

/** Progress of a definition. */
type State = 'served' | 'terminating' | 'pending'

type Context = Pick<OperatorContext, 'api' | 'clock' | 'random' | 'log'>

/** Installs one definition and waits until its kinds are served. */
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
      throw new TenureError(
        'TENURE_DEFINITION_INVALID',
        'A CustomResourceDefinition to install has no name; set metadata.name.',
        {
          fate: 'bug',
        },
      )
    }
    this.#definition = definition
    this.#options = options
    this.#context = context
    this.#name = name
    this.#log = context.log.child({ definition: name })
  }

  /**
   * Resolves when the definition is served, or when it is terminating and still has objects: their finalizers may
   * belong to controllers that have not started yet. Rejects if `signal` aborts or the server rejects the definition
   * for good.
   */
  async run(signal: AbortSignal): Promise<'served' | 'terminating'> {
    return (await this.#until(['served', 'terminating'], signal)) === 'terminating' ? 'terminating' : 'served'
  }

  /** Resolves when the definition is served, reinstalling it if it is terminating. */
  async runOn(signal: AbortSignal): Promise<void> {
    await this.#until(['served'], signal)
  }

  async #until(wanted: readonly State[], signal: AbortSignal): Promise<State> {
    let pause = POLL_INTERVAL_MS
    for (;;) {
      signal.throwIfAborted()
      try {
        const state = await this.#step(signal)
        if (wanted.includes(state)) return state
        pause = Math.min(pause * 1.5, 1_000)
      } catch (error) {
        signal.throwIfAborted()
        if (fateOf(error) !== 'retry') throw error
        this.#warn(asError(error))
        pause = Math.min(pause * 2, MAX_BACKOFF_MS)
      }
      await sleep(this.#context.clock, jitter(this.#context.random, pause, 0.2), signal)
    }
  }

  /** Reads the definition once and takes the next step. */
  async #step(signal: AbortSignal): Promise<State> {
    const live = await this.#read(signal)
    if (live?.metadata.deletionTimestamp) {
      this.#warn(new Error('the definition is being deleted; waiting until it is gone'))
      return (await this.#hasObjects(live, signal)) ? 'terminating' : 'pending'
    }
    const present = await this.#write(live, signal)
    if (!present || !isEstablished(present)) return 'pending'
    return (await this.#isServed(present, signal)) ? 'served' : 'pending'
  }

  /** True if the caller may not list: it cannot rule out objects. */
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
      this.#log.info('newer definition found, keeping it', { version: definitionVersion(live) })
      return live
    }
    if (live && this.#isEqual(live, fieldManager)) return live
    try {
      const { apiVersion, kind } = CustomResourceDefinition
      const desired = { ...this.#definition, apiVersion, kind }
      const applied = await this.#context.api.apply(CustomResourceDefinition, desired, {
        force: true,
        fieldManager,
        signal,
      })
      this.#log.info(live ? 'definition upgraded' : 'definition installed')
      return applied
    } catch (error) {
      // Writing is forbidden but the definition exists: an administrator manages it.
      if (!live || !(error instanceof ApiError) || error.status !== 403) throw error
      this.#warn(error)
      return live
    }
  }

  #isEqual(live: Stored<CustomResourceDefinition>, fieldManager: string): boolean {
    const fields = live.metadata.managedFields?.find(
      ({ manager, operation, subresource }) => manager === fieldManager && operation === 'Apply' && !subresource,
    )?.fieldsV1
    if (fields === undefined) return false
    // Both are JSON values.
    return isApplied(fields, this.#definition as unknown as JsonObject, live as unknown as JsonObject, true)
  }

  /** The server reports a definition as established shortly before it serves requests for its objects. */
  async #isServed({ spec }: CustomResourceDefinition, signal: AbortSignal): Promise<boolean> {
    for (const version of spec.versions) {
      if (version.served && !(await this.#isListable(kindOf(spec, version.name), signal))) return false
    }
    return true
  }

  async #isListable(kind: Kind, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#context.api.list(kind, { limit: 1, signal })
      return true
    } catch (error) {
      // Forbidden means that the resource exists.
      if (error instanceof ApiError && error.status === 403) return true
      if (isNotFound(error)) return false
      throw error
    }
  }

  /** Logs at most one warning per interval: they are all the same. */
  #warn(error: Error): void {
    const now = this.#context.clock.monotonic()
    if (now - this.#complainedAt < WARNING_INTERVAL_MS) return
    this.#complainedAt = now
    this.#log.warn('waiting for definition', { error })
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
    `The CustomResourceDefinition ${name} is missing and installation is disabled. Apply ${manifest ?? `the manifest of ${name}`}, or enable installation.`,
    { fate: 'retry' },
  )
}
