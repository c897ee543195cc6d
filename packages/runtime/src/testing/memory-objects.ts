import { type Clock, keyOf, type Random, randomSuffix, type TransportResponse } from '@tenure/kube'
import { asArray, asJsonObject, asString, isDeepEqual, isJsonObject, type JsonObject } from '@tenure/kube/model'
import { applyObject } from './memory-apply.ts'
import { jsonPatch, mergePatch } from './memory-patch.ts'
import { MemoryStore } from './memory-store.ts'
import type { RecordedRequest, RequestTarget } from './recorded-request.ts'
import { objectResponse, resourceOf } from './representation.ts'
import { jsonResponse, RequestError } from './responses.ts'

/** Fields of the metadata that clients cannot change. */
const FIXED = ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds']

/** The verbs on stored objects. */
export class MemoryObjects {
  readonly store = new MemoryStore()
  readonly #clock: Clock
  readonly #random: Random
  readonly #kinds = new Map<string, string>()

  constructor(clock: Clock, random: Random) {
    this.#clock = clock
    this.#random = random
  }

  /** The kind last created under a resource, otherwise its plural. */
  kindOf(target: RequestTarget): string {
    return this.#kinds.get(resourceOf(target)) ?? target.plural
  }

  find(target: RequestTarget): JsonObject {
    const object = this.store.get(resourceOf(target), keyOf(target))
    if (object) return object
    throw new RequestError(404, 'NotFound', `${qualified(target)} "${target.name}" not found`, detailsOf(target))
  }

  create(target: RequestTarget, body: JsonObject, status?: unknown): JsonObject {
    const given = metadataOf(body)
    const generateName = asString(given['generateName'])
    const name = asString(given['name']) || (generateName && `${generateName}${randomSuffix(this.#random)}`)
    if (!name) throw new RequestError(422, 'Invalid', 'metadata.name: Required value: name or generateName is required')
    const namespace = target.namespace || asString(given['namespace'])
    const full = { ...target, namespace, name }
    if (this.store.get(resourceOf(target), keyOf(full))) {
      throw new RequestError(409, 'AlreadyExists', `${target.plural} "${name}" already exists`, detailsOf(full))
    }
    if (given['resourceVersion']) {
      throw new RequestError(400, 'BadRequest', 'resourceVersion should not be set on objects to be created')
    }
    const { status: _status, ...rest } = body
    this.#kinds.set(resourceOf(target), asString(body['kind']))
    return this.store.put(resourceOf(target), keyOf(full), (resourceVersion) =>
      structuredClone({
        ...rest,
        metadata: {
          ...given,
          name,
          ...(namespace && { namespace }),
          uid: this.#uid(),
          resourceVersion,
          ...(rest['spec'] !== undefined && { generation: 1 }),
          creationTimestamp: this.#time(),
        },
        ...(status !== undefined && { status }),
      }),
    )
  }

  update(request: RecordedRequest): JsonObject {
    const live = this.find(request)
    const body = bodyOf(request)
    checkPreconditions(request, live, metadataOf(body))
    return this.replace(request, live, throughSubresource(request, live, body))
  }

  patch(request: RecordedRequest): JsonObject {
    const live = this.find(request)
    const isJsonPatch = request.headers['content-type']?.startsWith('application/json-patch') === true
    const patched = asJsonObject(
      isJsonPatch ? jsonPatch(live, request.body as Parameters<typeof jsonPatch>[1]) : mergePatch(live, request.body),
    )
    checkPreconditions(request, live, metadataOf(patched))
    return this.replace(request, live, throughSubresource(request, live, patched))
  }

  apply(request: RecordedRequest): TransportResponse {
    const body = bodyOf(request)
    const live = this.store.get(resourceOf(request), keyOf(request))
    if (live) checkPreconditions(request, live, metadataOf(body))
    else if (metadataOf(body)['uid'] || request.subresource) this.find(request)
    const manager = request.query['fieldManager'] ?? ''
    const applied = applyObject(live, body, { manager, subresource: request.subresource, time: this.#time() })
    if (live) {
      return objectResponse(request, 200, this.replace(request, live, throughSubresource(request, live, applied, true)))
    }
    const named = { ...applied, metadata: { ...metadataOf(applied), name: request.name } }
    return objectResponse(request, 201, this.create(request, named))
  }

  /** Stores a new state of an existing object if it differs. Removing the last finalizer completes a deletion. */
  replace(target: RequestTarget, live: JsonObject, desired: JsonObject): JsonObject {
    const before = metadataOf(live)
    const { resourceVersion: _version, ...metadata } = metadataOf(desired)
    const kept = Object.fromEntries(FIXED.flatMap((key) => (before[key] === undefined ? [] : [[key, before[key]]])))
    const isSpecChanged = !isDeepEqual(desired['spec'], live['spec'])
    const generation = isSpecChanged ? nextGeneration(before) : { generation: before['generation'] }
    const next = {
      ...desired,
      apiVersion: live['apiVersion'],
      kind: live['kind'],
      metadata: { ...metadata, ...kept, ...generation },
    }
    const { resourceVersion, ...withoutVersion } = before
    if (isDeepEqual(next, { ...live, metadata: withoutVersion })) return live
    const make = (version: string): JsonObject =>
      structuredClone({ ...next, metadata: { ...next.metadata, resourceVersion: version } })
    const key = keyOf({ namespace: asString(before['namespace']), name: asString(before['name']) })
    const isDeleted = before['deletionTimestamp'] !== undefined && !hasFinalizers(next)
    if (!isDeleted) return this.store.put(resourceOf(target), key, make)
    this.store.remove(resourceOf(target), key)
    // The real server responds with the state without finalizers and the previous version.
    return make(asString(resourceVersion))
  }

  delete(request: RecordedRequest): TransportResponse {
    const live = this.find(request)
    const metadata = metadataOf(live)
    const { uid, resourceVersion } = asJsonObject(asJsonObject(request.body)['preconditions'])
    checkPreconditions(request, live, { uid })
    if (resourceVersion !== undefined && resourceVersion !== metadata['resourceVersion']) {
      throw conflict(request, 'Precondition failed: ResourceVersion in precondition')
    }
    if (hasFinalizers(live)) return objectResponse(request, 200, this.#markDeleted(request, live))
    this.store.remove(resourceOf(request), keyOf(request))
    const details = { ...detailsOf(request), uid: metadata['uid'] }
    return jsonResponse(200, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details })
  }

  #markDeleted(target: RequestTarget, live: JsonObject): JsonObject {
    const metadata = metadataOf(live)
    if (metadata['deletionTimestamp']) return live
    const deletion = { deletionTimestamp: this.#time(), deletionGracePeriodSeconds: 0, ...nextGeneration(metadata) }
    return this.store.put(resourceOf(target), keyOf(target), (resourceVersion) =>
      structuredClone({ ...live, metadata: { ...metadata, ...deletion, resourceVersion } }),
    )
  }

  #uid(): string {
    const hex = Buffer.from(this.#random.bytes(16)).toString('hex')
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
  }

  #time(): string {
    return `${new Date(this.#clock.now()).toISOString().slice(0, 19)}Z`
  }
}

export function bodyOf({ body }: RecordedRequest): JsonObject {
  if (isJsonObject(body)) return body
  throw new RequestError(400, 'BadRequest', 'the request needs an object as its body')
}

export function metadataOf(object: JsonObject): JsonObject {
  return asJsonObject(object['metadata'])
}

function nextGeneration({ generation }: JsonObject): JsonObject {
  return typeof generation === 'number' ? { generation: generation + 1 } : {}
}

function hasFinalizers(object: JsonObject): boolean {
  return asArray(metadataOf(object)['finalizers']).length > 0
}

function qualified({ group, plural }: RequestTarget): string {
  return group ? `${plural}.${group}` : plural
}

function detailsOf(target: RequestTarget): { name: string; group?: string; kind: string } {
  return { name: target.name, ...(target.group && { group: target.group }), kind: target.plural }
}

function conflict(target: RequestTarget, problem: string): RequestError {
  const message = `Operation cannot be fulfilled on ${qualified(target)} "${target.name}": ${problem}`
  return new RequestError(409, 'Conflict', message, detailsOf(target))
}

function checkPreconditions(target: RequestTarget, live: JsonObject, { uid, resourceVersion }: JsonObject): void {
  const stored = metadataOf(live)
  if (uid && uid !== stored['uid']) throw conflict(target, 'Precondition failed: UID in precondition')
  if (resourceVersion && resourceVersion !== stored['resourceVersion']) {
    throw conflict(target, 'the object has been modified; please apply your changes to the latest version')
  }
}

/** `/status` changes the status only; the object's own URL changes everything else. */
function throughSubresource(
  { subresource }: RequestTarget,
  live: JsonObject,
  desired: JsonObject,
  isApply = false,
): JsonObject {
  const [base, withStatus] = subresource === 'status' ? [live, desired] : [desired, live]
  const { status: _status, ...rest } = base
  const { managedFields } = metadataOf(desired)
  return {
    ...rest,
    ...(isApply && { metadata: { ...metadataOf(base), managedFields } }),
    ...(withStatus['status'] !== undefined && { status: withStatus['status'] }),
  }
}
