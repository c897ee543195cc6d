import type { Detail, RequestHead } from '@tenure/http'
import { HttpError, invalidRequest, unavailable } from '@tenure/http'
import type { KubeApi, ObjectRef, Stored } from '@tenure/kube'
import { isAlreadyExists, isConflict, isNotFound, withTimeout } from '@tenure/kube'
import { Namespace } from '@tenure/kube/kinds'
import type { Informer, ManagerContext } from '@tenure/runtime'
import { Application, FINALIZER, GROUP, OPERATOR, REASONS } from '../api/index.ts'
import type { ValidationOptions } from '../validation/validate.ts'
import { validateApplication } from '../validation/validate.ts'
import type { ApplicationRoutesOptions } from './options.ts'
import { conflict, isMissingNamespace, refusalOf, resourceNotFound } from './api-errors.ts'

/** How long a request waits for the cache to be filled, in milliseconds, before it is told to come back. */
const SYNC_TIMEOUT = 5_000
/** Each try loses only to somebody else's success, so that many lost ones in a row mean something is wrong. */
const MOST_TRIES = 20
const NAMESPACE = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/
/** What fits into the API server's 64 bits. It has no better answer to anything else than that it failed. */
const RESOURCE_VERSION = /^\d{1,19}$/

/** Which Application an event is about; there need not be one. */
interface About {
  readonly name?: string | undefined
  readonly namespace?: string | undefined
}

/** Applications for the HTTP API: read from the cache, written to the API server. */
export class ApplicationStore {
  readonly informer: Informer<Application>
  readonly #api: KubeApi
  readonly #context: ManagerContext
  readonly #options: ApplicationRoutesOptions

  constructor(context: ManagerContext, options: ApplicationRoutesOptions) {
    this.#api = context.api
    this.#context = context
    this.#options = options
    this.informer = context.informers.informer(Application, { namespace: options.namespace })
  }

  async list(namespace: string | undefined, signal: AbortSignal): Promise<readonly Stored<Application>[]> {
    await this.#whenSynced(signal)
    return this.informer.cache.list(namespace)
  }

  async get(ref: ObjectRef, signal: AbortSignal): Promise<Stored<Application>> {
    await this.#whenSynced(signal)
    const object = this.informer.cache.get(ref)
    if (!object) throw resourceNotFound()
    return object
  }

  /** As `get`, but asks the API server about what the cache does not have: before it is said that there is nothing to change. */
  async find(ref: ObjectRef, signal: AbortSignal): Promise<Stored<Application>> {
    return this.informer.cache.get(ref) ?? this.#read(ref, signal)
  }

  async create(namespace: string, body: unknown, request: RequestHead): Promise<Stored<Application>> {
    if (!NAMESPACE.test(namespace)) {
      const message = `Namespace must have at most 63 lower-case letters, digits and '-', and begin and end with a letter or digit`
      throw invalidRequest([{ field: 'metadata.namespace', message, value: namespace }])
    }
    const { metadata = {}, ...rest } = this.#validated(body, { namespace })
    const { name, generateName, labels, annotations, ownerReferences } = metadata
    const finalizers = this.#finalizersOf(namespace, metadata.finalizers)
    const object = {
      ...rest,
      metadata: {
        namespace,
        ...(name !== undefined && { name }),
        ...(generateName !== undefined && { generateName }),
        ...(labels && { labels }),
        ...(annotations && { annotations }),
        ...(finalizers && { finalizers }),
        ...(ownerReferences && { ownerReferences }),
      },
    }
    const { signal } = request
    try {
      return await this.#api.create(Application, object, { signal })
    } catch (error) {
      if (!isMissingNamespace(error) || !this.#options.createNamespaces) throw this.#refusal(error, { name, namespace })
    }
    await this.#createNamespace(namespace, request)
    return this.#api.create(Application, object, { signal }).catch((error: unknown) => {
      throw this.#refusal(error, { name, namespace })
    })
  }

  /**
   * Puts the body in the place of what is there. Labels and annotations are replaced where the body has any; finalizers,
   * owners and status are not the caller's to replace. With a resourceVersion it must be the latest; without, the last wins.
   */
  async replace(ref: ObjectRef, body: unknown, signal: AbortSignal): Promise<Stored<Application>> {
    const application = this.#validated(body, ref)
    const resourceVersion = versionIn(application)
    const uid = application.metadata?.uid || undefined
    let current = await this.find(ref, signal)
    for (let tries = 1; ; tries++) {
      if (uid !== undefined && uid !== current.metadata.uid) {
        throw conflict('The resource was deleted and made anew since it was read', 'metadata.uid', uid)
      }
      try {
        return await this.#api.update(Application, replacement(application, current, resourceVersion), { signal })
      } catch (error) {
        if (!isConflict(error)) throw this.#refusal(error, ref)
        if (resourceVersion !== undefined || tries >= MOST_TRIES) {
          const message = 'The resource has changed since it was read; read it again, or send no resourceVersion'
          throw conflict(message, 'metadata.resourceVersion', resourceVersion)
        }
      }
      current = await this.#read(ref, signal)
    }
  }

  async remove(ref: ObjectRef, signal: AbortSignal): Promise<void> {
    await this.#api.delete(Application, ref, { signal }).catch((error: unknown) => {
      throw refusalOf(error)
    })
  }

  #validated(body: unknown, where: ValidationOptions): Application {
    const { policy } = this.#options
    const validation = validateApplication(body, { ...where, policy })
    if (validation.ok) return validation.application
    this.#noteInvalid(validation.details, { name: where.name ?? nameIn(body), namespace: where.namespace })
    throw invalidRequest(validation.details)
  }

  /** What the API server's refusal means to the caller. It judges more than we do, and that is noted just the same. */
  #refusal(error: unknown, about: About): unknown {
    const refusal = refusalOf(error)
    if (refusal instanceof HttpError && refusal.status === 400) this.#noteInvalid(refusal.details ?? [], about)
    return refusal
  }

  #noteInvalid(details: readonly Detail[], { name = '', namespace }: About): void {
    const { apiVersion, kind } = Application
    this.#options.events.record({
      type: 'Warning',
      reason: REASONS.validationFailed,
      message: details.map((each) => `${each.field}: ${each.message}`).join('; '),
      involvedObject: { apiVersion, kind, namespace, name },
    })
  }

  /** With the controller's own, so that it need not add it: only where it will take it off again. */
  #finalizersOf(namespace: string, given: readonly string[] | undefined): readonly string[] | undefined {
    const { namespace: served = namespace } = this.#options
    return served === namespace ? [...new Set([...(given ?? []), FINALIZER])] : given
  }

  async #read(ref: ObjectRef, signal: AbortSignal): Promise<Stored<Application>> {
    return this.#api.get(Application, ref, { signal }).catch((error: unknown) => {
      throw isNotFound(error) ? resourceNotFound() : error
    })
  }

  async #createNamespace(name: string, { authorize, signal, log }: RequestHead): Promise<void> {
    await authorize({ group: '', resource: Namespace.plural, verb: 'create' })
    const labels = { 'app.kubernetes.io/managed-by': OPERATOR }
    try {
      await this.#api.create(Namespace, { metadata: { name, labels } }, { signal })
      log.info('namespace created', { namespace: name, group: GROUP })
    } catch (error) {
      if (!isAlreadyExists(error)) throw refusalOf(error)
    }
  }

  async #whenSynced(signal: AbortSignal): Promise<void> {
    if (this.informer.synced) return
    const limit = withTimeout(this.#context.clock, SYNC_TIMEOUT, () => new Error('the cache is not filled yet'), signal)
    try {
      await this.informer.whenSynced(limit.signal)
    } catch (error) {
      throw unavailable('Applications can not be read yet', error)
    } finally {
      limit.dispose()
    }
  }
}

/** The version that a body names; an empty one is none, as everywhere in Kubernetes. */
function versionIn({ metadata }: Application): string | undefined {
  const version = metadata?.resourceVersion || undefined
  if (version === undefined || RESOURCE_VERSION.test(version)) return version
  const message = 'Expected the resourceVersion of a resource that was read, which is a whole number'
  throw invalidRequest([{ field: 'metadata.resourceVersion', message, value: version.slice(0, 64) }])
}

function replacement(
  application: Application,
  current: Stored<Application>,
  resourceVersion: string | undefined,
): Application {
  const { labels, annotations } = application.metadata ?? {}
  const { managedFields: _, ...kept } = current.metadata
  return {
    ...application,
    metadata: {
      ...kept,
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
  }
}

function nameIn(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('metadata' in body)) return undefined
  const { metadata } = body
  if (typeof metadata !== 'object' || metadata === null || !('name' in metadata)) return undefined
  return typeof metadata.name === 'string' ? metadata.name.slice(0, 253) : undefined
}
