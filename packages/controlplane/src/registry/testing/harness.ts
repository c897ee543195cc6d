import type { KubeObject } from '@tenure/kube'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import { silentLogger } from '@tenure/runtime'
import { fieldManagement } from '../../apply/index.ts'
import { StatusError, statusBody } from '../../errors.ts'
import type { StatusBody } from '../../errors.ts'
import { patches } from '../../patch/index.ts'
import { process } from '../../schema/validation/process.ts'
import { openStorage } from '../../storage/index.ts'
import type { HistoryLimits, Storage } from '../../storage/index.ts'
import { catalogOf, KINDS } from './catalog.ts'
import { GenericRegistry } from '../registry.ts'
import type {
  Admission,
  RequestOptions,
  ResourceResponse,
  ResourceRequest,
  ResourceVerb,
  WatchItem,
  WatchSession,
} from '../request.ts'
import type { ResourceDefinition } from '../types.ts'

export type Json = KubeObject & Readonly<Record<string, unknown>>

export interface Call {
  readonly name?: string
  readonly namespace?: string | undefined
  readonly body?: unknown
  readonly options?: RequestOptions
  readonly subresource?: string
  readonly patchType?: string
  readonly at?: number
}

/** A registry over an empty storage in memory, in virtual time. */
export class Harness {
  readonly clock = new VirtualClock()
  readonly storage: Storage
  readonly registry: GenericRegistry
  readonly abort = new AbortController()

  private constructor(storage: Storage, clock: VirtualClock, admission: Admission | undefined) {
    this.clock = clock
    this.storage = storage
    this.registry = new GenericRegistry({
      storage,
      catalog: catalogOf(),
      process,
      patches,
      fields: fieldManagement,
      admission,
      clock,
      random: seededRandom(),
    })
  }

  static async start(
    options: { readonly admission?: Admission; readonly history?: HistoryLimits } = {},
  ): Promise<Harness> {
    const clock = new VirtualClock()
    const { history } = options
    const storage = await openStorage({ clock, log: silentLogger, ...(history && { history }) })
    const harness = new Harness(storage, clock, options.admission)
    await harness.call('create', KINDS.namespace, { namespace: undefined, body: { metadata: { name: 'default' } } })
    return harness
  }

  request(verb: ResourceVerb, definition: ResourceDefinition, call: Call = {}): ResourceRequest {
    return {
      verb,
      definition,
      subresource: call.subresource ?? '',
      namespace: 'namespace' in call ? call.namespace : definition.namespaced ? 'default' : undefined,
      name: call.name,
      options: call.options ?? {},
      body: call.body,
      ...(call.patchType !== undefined && { patchType: call.patchType }),
      ...(call.at !== undefined && { at: call.at }),
      user: { name: 'tester', groups: ['system:masters'] },
      userAgent: 'tester/1.0',
      signal: this.abort.signal,
    }
  }

  call(verb: ResourceVerb, definition: ResourceDefinition, call: Call = {}): Promise<ResourceResponse> {
    return this.registry.handle(this.request(verb, definition, call))
  }

  /** The object of a response. */
  async object(verb: ResourceVerb, definition: ResourceDefinition, call: Call = {}): Promise<Json> {
    const response = await this.call(verb, definition, call)
    if (response.type !== 'object') throw new Error(`the response is a ${response.type}`)
    return (response.stored?.object ?? response.object) as Json
  }

  /** The error that a call must end with. */
  async failure(verb: ResourceVerb, definition: ResourceDefinition, call: Call = {}): Promise<StatusBody> {
    try {
      await this.call(verb, definition, call)
    } catch (error) {
      if (error instanceof StatusError) return statusBody(error)
      throw error
    }
    throw new Error('the request was not refused')
  }

  async list(definition: ResourceDefinition, call: Call = {}): Promise<Extract<ResourceResponse, { type: 'list' }>> {
    const response = await this.call('list', definition, call)
    if (response.type !== 'list') throw new Error(`the response is a ${response.type}`)
    return response
  }

  /** Opens a watch and collects its events as `TYPE name`. */
  async watch(
    definition: ResourceDefinition,
    options: RequestOptions = {},
    namespace: string | undefined = 'default',
  ): Promise<Watched> {
    const response = await this.call('watch', definition, { options, namespace })
    if (response.type !== 'watch') throw new Error(`the response is a ${response.type}`)
    return new Watched(response.session)
  }
}

export class Watched {
  readonly items: WatchItem[] = []
  readonly session: WatchSession
  hasEnded = false

  constructor(session: WatchSession) {
    this.session = session
    session.open(
      (item) => this.items.push(item),
      () => {
        this.hasEnded = true
      },
    )
  }

  get lines(): readonly string[] {
    return this.items.map((item) => {
      switch (item.type) {
        case 'BOOKMARK':
          return item.initialEventsEnd ? 'BOOKMARK end of initial' : 'BOOKMARK'
        case 'ERROR':
          return `ERROR ${item.error.message}`
        default:
          return `${item.type} ${item.stored.object.metadata.name}`
      }
    })
  }
}
