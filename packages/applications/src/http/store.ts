import type { Detail, RequestHead } from '@tenure/http'
import { HttpError, invalidRequest, unavailable } from '@tenure/http'
import type { KubeApi, ObjectRef, Stored } from '@tenure/kube'
import { isAlreadyExists, isConflict, isNotFound, withTimeout } from '@tenure/kube'
import { Namespace } from '@tenure/kube/kinds'
import { dnsLabel, isDnsSubdomain, valueAtPath } from '@tenure/kube/model'
import type { Informer, OperatorContext } from '@tenure/runtime'
import { Application, FINALIZER, GROUP, LABELS, OPERATOR, REASONS } from '../api/index.ts'
import type { ValidationOptions } from '../validation/validate.ts'
import { validateApplication } from '../validation/validate.ts'
import type { ApplicationRoutesOptions } from './options.ts'
import { conflict, isMissingNamespace, toHttpError, resourceNotFound } from './api-errors.ts'

/** Time that a request waits for the cache to sync before it gets a 503. */
const SYNC_TIMEOUT_MS = 5_000
/** Each attempt fails only if another write succeeds, so that this many failures in a row mean a fault. */
const MAX_UPDATE_ATTEMPTS = 20
/** 64 bits. The API server answers any other version with 500. */
const RESOURCE_VERSION = /^\d{1,19}$/

/** Application that an event is about; it need not exist. */
interface EventSubject {
  readonly name?: string | undefined
  readonly namespace?: string | undefined
}

/** Applications for the HTTP API: read from the cache, written to the API server. */
export class ApplicationStore {
  readonly informer: Informer<Application>
  readonly #api: KubeApi
  readonly #context: OperatorContext
  readonly #options: ApplicationRoutesOptions

  constructor(context: OperatorContext, options: ApplicationRoutesOptions) {
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

  /** As `get`, but reads from the API server on a cache miss, so that a write does not get a premature 404. */
  async find(ref: ObjectRef, signal: AbortSignal): Promise<Stored<Application>> {
    requirePossible(ref)
    return this.informer.cache.get(ref) ?? this.#read(ref, signal)
  }

  async create(namespace: string, body: unknown, request: RequestHead): Promise<Stored<Application>> {
    if (dnsLabel(namespace).length > 0) {
      const message = `Namespace must have at most 63 lower-case letters, digits and '-', and begin and end with a letter or digit`
      throw invalidRequest([{ field: 'metadata.namespace', message, value: namespace }])
    }
    const { metadata = {}, ...rest } = this.#validated(body, { namespace, isNew: true })
    const { name, generateName, labels, annotations, ownerReferences } = metadata
    const finalizers = this.#finalizersOf(namespace, metadata.finalizers)
    const object = {
      ...rest,
      metadata: {
        namespace,
        ...(name !== undefined && { name }),
        ...(generateName !== undefined && { generateName }),
        labels: { ...(name !== undefined && { [LABELS.instance]: name }), ...labels },
        ...(annotations && { annotations }),
        ...(finalizers && { finalizers }),
        ...(ownerReferences && { ownerReferences }),
      },
    }
    const { signal } = request
    try {
      return await this.#api.create(Application, object, { signal })
    } catch (error) {
      if (!isMissingNamespace(error) || !this.#options.createNamespaces)
        throw this.#toHttpError(error, { name, namespace })
    }
    await this.#createNamespace(namespace, request)
    return this.#api.create(Application, object, { signal }).catch((error: unknown) => {
      throw this.#toHttpError(error, { name, namespace })
    })
  }

  /**
   * Replaces an Application. Labels and annotations are replaced if the body has any; finalizers, owners and status are
   * kept. A resourceVersion in the body must be the latest; without one, the last write wins.
   */
  async replace(ref: ObjectRef, body: unknown, signal: AbortSignal): Promise<Stored<Application>> {
    const application = this.#validated(body, { ...ref, policy: undefined })
    const resourceVersion = versionIn(application)
    const uid = application.metadata?.uid || undefined
    let current = await this.find(ref, signal)
    // As at admission: an image that the policy forbids by now may stay.
    if (application.spec.image !== current.spec.image) this.#validated(body, ref)
    for (let tries = 1; ; tries++) {
      if (uid !== undefined && uid !== current.metadata.uid) {
        throw conflict('The resource was deleted and recreated since it was read', 'metadata.uid', uid)
      }
      try {
        const wanted = replacement(application, current, resourceVersion)
        const stored = await this.#api.update(Application, wanted, { signal })
        // The controller records changes of the spec, also those of other writers.
        if (stored.metadata.generation === current.metadata.generation) this.#recordReplaced(stored)
        return stored
      } catch (error) {
        if (!isConflict(error)) throw this.#toHttpError(error, ref)
        if (resourceVersion !== undefined || tries >= MAX_UPDATE_ATTEMPTS) {
          const message = 'The resource has changed since it was read; read it again, or send no resourceVersion'
          throw conflict(message, 'metadata.resourceVersion', resourceVersion)
        }
      }
      current = await this.#read(ref, signal)
    }
  }

  async remove(ref: ObjectRef, signal: AbortSignal): Promise<void> {
    requirePossible(ref)
    await this.#api.delete(Application, ref, { signal }).catch((error: unknown) => {
      throw toHttpError(error)
    })
  }

  #validated(body: unknown, where: ValidationOptions): Application {
    const { policy } = this.#options
    const validation = validateApplication(body, { policy, ...where })
    if (validation.ok) return validation.application
    this.#recordInvalid(validation.details, { name: where.name ?? nameIn(body), namespace: where.namespace })
    throw invalidRequest(validation.details)
  }

  /** Translates an error of the API server; an invalid Application is recorded as an event, as in `#validated`. */
  #toHttpError(error: unknown, about: EventSubject): unknown {
    const httpError = toHttpError(error)
    if (httpError instanceof HttpError && httpError.status === 400) this.#recordInvalid(httpError.details ?? [], about)
    return httpError
  }

  #recordInvalid(details: readonly Detail[], { name = '', namespace }: EventSubject): void {
    const { apiVersion, kind } = Application
    this.#options.events.record({
      type: 'Warning',
      reason: REASONS.validationFailed,
      message: details.map((each) => `${each.field}: ${each.message}`).join('; '),
      involvedObject: { apiVersion, kind, namespace, name },
    })
  }

  #recordReplaced({ metadata: { name, namespace, uid } }: Stored<Application>): void {
    const { apiVersion, kind } = Application
    this.#options.events.record({
      type: 'Normal',
      reason: REASONS.updated,
      message: 'The Application was replaced; its spec is the same.',
      involvedObject: { apiVersion, kind, namespace, name, uid },
    })
  }

  /** Adds the finalizer, which saves the controller a write; only in namespaces that the controller watches. */
  #finalizersOf(namespace: string, given: readonly string[] | undefined): readonly string[] | undefined {
    const { namespace: watched = namespace } = this.#options
    return watched === namespace ? [...new Set([...(given ?? []), FINALIZER])] : given
  }

  async #read(ref: ObjectRef, signal: AbortSignal): Promise<Stored<Application>> {
    return this.#api.get(Application, ref, { signal }).catch((error: unknown) => {
      throw isNotFound(error) ? resourceNotFound() : error
    })
  }

  async #createNamespace(name: string, { authorize, signal, log }: RequestHead): Promise<void> {
    await authorize({ group: '', resource: Namespace.plural, verb: 'create' })
    const labels = { [LABELS.managedBy]: OPERATOR }
    try {
      await this.#api.create(Namespace, { metadata: { name, labels } }, { signal })
      log.info('namespace created', { namespace: name, group: GROUP })
    } catch (error) {
      if (!isAlreadyExists(error)) throw toHttpError(error)
    }
  }

  async #whenSynced(signal: AbortSignal): Promise<void> {
    if (this.informer.synced) return
    const limit = withTimeout(
      this.#context.clock,
      SYNC_TIMEOUT_MS,
      () => new Error('The cache is not synced yet'),
      signal,
    )
    try {
      await this.informer.whenSynced(limit.signal)
    } catch (error) {
      throw unavailable('Applications cannot be read yet', error)
    } finally {
      limit.dispose()
    }
  }
}

/** A name of the URL that Kubernetes allows no object to have is that of a missing object; the client refuses to send it. */
function requirePossible({ name, namespace = '' }: ObjectRef): void {
  if (!isDnsSubdomain(name) || dnsLabel(namespace).length > 0) throw resourceNotFound()
}

/** resourceVersion of the body; an empty one counts as none, as in Kubernetes. */
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
  const name = valueAtPath(body, 'metadata', 'name')
  return typeof name === 'string' ? name.slice(0, 253) : undefined
}
