import { type Clock, keyOf, type Random, randomSuffix, type TransportResponse } from '@tenure/kube'
import { jsonAnswer, Refusal } from './memory-answer.ts'
import { applyObject } from './memory-apply.ts'
import { objectAnswer, resourceOf } from './memory-form.ts'
import { childOf, copyOf, equal, isJson, stringOf, type Json } from './memory-json.ts'
import { applyJsonPatch, applyMergePatch } from './memory-patch.ts'
import { type RecordedRequest, selectionOf, type Target } from './memory-request.ts'
import { MemoryStore } from './memory-store.ts'

/** Kubernetes' verbs on stored objects: what is checked, what the server sets, when a version changes. */
export class MemoryObjects {
  readonly store = new MemoryStore()
  readonly #clock: Clock
  readonly #random: Random
  readonly #kinds = new Map<string, string>()

  constructor(clock: Clock, random: Random) {
    this.#clock = clock
    this.#random = random
  }

  /** The kind last created under a resource; its plural if there was none. */
  kindOf(target: Target): string {
    return this.#kinds.get(resourceOf(target)) ?? target.plural
  }

  find(target: Target): Json {
    const object = this.store.get(resourceOf(target), keyOf(target))
    if (!object) {
      const resource = target.group ? `${target.plural}.${target.group}` : target.plural
      throw new Refusal(404, 'NotFound', `${resource} "${target.name}" not found`, detailsOf(target))
    }
    return object
  }

  create(target: Target, body: Json, status?: unknown, dryRun = false): Json {
    const given = childOf(body, 'metadata')
    const generateName = stringOf(given['generateName'])
    const name = stringOf(given['name']) || (generateName && `${generateName}${randomSuffix(this.#random)}`)
    if (!name) {
      throw new Refusal(422, 'Invalid', 'metadata.name: Required value: name or generateName is required', {
        causes: [{ reason: 'FieldValueRequired', field: 'metadata.name' }],
      })
    }
    const namespace = target.namespace || stringOf(given['namespace'])
    const full = { ...target, namespace, name }
    if (this.store.get(resourceOf(target), keyOf(full))) {
      throw new Refusal(409, 'AlreadyExists', `${target.plural} "${name}" already exists`, detailsOf(full))
    }
    if (given['resourceVersion']) {
      throw new Refusal(400, 'BadRequest', 'resourceVersion should not be set on objects to be created')
    }
    const { status: _status, ...rest } = body
    this.#kinds.set(resourceOf(target), stringOf(body['kind']))
    const make = (resourceVersion: string): Json => ({
      ...copyOf(rest),
      metadata: {
        ...copyOf(given),
        name,
        ...(namespace && { namespace }),
        uid: this.#uid(),
        resourceVersion,
        ...(rest['spec'] !== undefined && { generation: 1 }),
        creationTimestamp: this.#time(),
      },
      ...(status !== undefined && { status: copyOf(status) }),
    })
    return dryRun ? make('') : this.store.put(resourceOf(target), keyOf(full), make)
  }

  /** Replaces it, or only its status through that subresource. */
  update(request: RecordedRequest): Json {
    const live = this.find(request)
    const body = bodyOf(request)
    const given = childOf(body, 'metadata')
    checkIdentity(request, live, given)
    return this.replace(request, live, throughSubresource(request, live, body), isDryRun(request))
  }

  patch(request: RecordedRequest): Json {
    const live = this.find(request)
    const isJsonPatch = request.headers['content-type']?.startsWith('application/json-patch') === true
    const patched = isJsonPatch ? applyJsonPatch(live, request.body) : applyMergePatch(live, request.body)
    if (!isJson(patched)) throw new Refusal(422, 'Invalid', 'the patch leaves no object')
    checkIdentity(request, live, childOf(patched, 'metadata'))
    return this.replace(request, live, throughSubresource(request, live, patched), isDryRun(request))
  }

  apply(request: RecordedRequest): TransportResponse {
    const { fieldManager, force } = request.query
    if (!fieldManager) throw new Refusal(422, 'Invalid', 'fieldManager: Required value: is required for apply patch')
    const body = bodyOf(request)
    const live = this.store.get(resourceOf(request), keyOf(request))
    const given = childOf(body, 'metadata')
    if (live) checkIdentity(request, live, given)
    else if (given['uid'] || request.subresource) this.find(request)
    const by = { manager: fieldManager, force: force === 'true', subresource: request.subresource, time: this.#time() }
    const { object, managedFields } = applyObject(live, body, by)
    const wanted = { ...object, metadata: { ...childOf(object, 'metadata'), managedFields } }
    if (!live) {
      const named = { ...wanted, metadata: { ...wanted.metadata, name: request.name } }
      return objectAnswer(request, 201, this.create(request, named, undefined, isDryRun(request)))
    }
    const target = throughSubresource(request, live, wanted, managedFields)
    return objectAnswer(request, 200, this.replace(request, live, target, isDryRun(request)))
  }

  /** Stores a new state of an object that is there, if it is one; the last finalizer of a deleted object takes it along. */
  replace(target: Target, live: Json, wanted: Json, dryRun = false): Json {
    const before = childOf(live, 'metadata')
    const { resourceVersion: _version, ...metadata } = childOf(wanted, 'metadata')
    const fixed = ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds']
    const kept = Object.fromEntries(fixed.flatMap((key) => (before[key] === undefined ? [] : [[key, before[key]]])))
    const specChanged = !equal(wanted['spec'], live['spec'])
    const generation =
      typeof before['generation'] === 'number' ? before['generation'] + (specChanged ? 1 : 0) : undefined
    const next: Json = {
      ...wanted,
      apiVersion: live['apiVersion'],
      kind: live['kind'],
      metadata: { ...metadata, ...kept, ...(generation !== undefined && { generation }) },
    }
    const { resourceVersion, ...withoutVersion } = before
    if (equal(next, { ...live, metadata: withoutVersion })) return live
    const make = (version: string): Json =>
      copyOf({ ...next, metadata: { ...childOf(next, 'metadata'), resourceVersion: version } })
    const key = keyOf({ namespace: stringOf(before['namespace']), name: stringOf(before['name']) })
    const isLast = before['deletionTimestamp'] !== undefined && !hasFinalizers(next)
    if (dryRun) return make(stringOf(resourceVersion))
    if (!isLast) return this.store.put(resourceOf(target), key, make)
    this.store.remove(resourceOf(target), key)
    // As the real server: the answer is the state without finalizers under the version from before.
    return make(stringOf(resourceVersion))
  }

  delete(request: RecordedRequest): TransportResponse {
    const live = this.find(request)
    const metadata = childOf(live, 'metadata')
    const conditions = childOf(request.body, 'preconditions')
    for (const field of ['uid', 'resourceVersion'] as const) {
      if (conditions[field] !== undefined && conditions[field] !== metadata[field]) {
        throw conflict(
          request,
          `Precondition failed: ${field === 'uid' ? 'UID' : 'ResourceVersion'} in precondition: ${stringOf(conditions[field])}, ` +
            `${field === 'uid' ? 'UID' : 'ResourceVersion'} in object meta: ${stringOf(metadata[field])}`,
        )
      }
    }
    const isDry = isDryRun(request) || Array.isArray(childOf(request, 'body')['dryRun'])
    if (hasFinalizers(live)) return objectAnswer(request, 200, isDry ? live : this.#markDeleted(request, live))
    if (!isDry) this.store.remove(resourceOf(request), keyOf(request))
    return jsonAnswer(200, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { ...detailsOf(request), uid: metadata['uid'] },
    })
  }

  #markDeleted(target: Target, live: Json): Json {
    const metadata = childOf(live, 'metadata')
    if (metadata['deletionTimestamp']) return live
    const marks = { deletionTimestamp: this.#time(), deletionGracePeriodSeconds: 0 }
    return this.store.put(resourceOf(target), keyOf(target), (resourceVersion) => ({
      ...copyOf(live),
      metadata: {
        ...copyOf(metadata),
        ...marks,
        resourceVersion,
        ...(typeof metadata['generation'] === 'number' && { generation: metadata['generation'] + 1 }),
      },
    }))
  }

  deleteCollection(request: RecordedRequest): TransportResponse {
    const isSelected = selectionOf(request)
    for (const object of this.store.list(resourceOf(request)).values()) {
      if (!isSelected(object)) continue
      const metadata = childOf(object, 'metadata')
      const target = { ...request, namespace: stringOf(metadata['namespace']), name: stringOf(metadata['name']) }
      if (hasFinalizers(object)) this.#markDeleted(target, object)
      else this.store.remove(resourceOf(target), keyOf(target))
    }
    return jsonAnswer(200, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' })
  }

  #uid(): string {
    const hex = Buffer.from(this.#random.bytes(16)).toString('hex')
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
  }

  #time(): string {
    return `${new Date(this.#clock.now()).toISOString().slice(0, 19)}Z`
  }
}

export function bodyOf(request: RecordedRequest): Json {
  if (!isJson(request.body)) throw new Refusal(400, 'BadRequest', 'the request needs an object as its body')
  return request.body
}

export function isDryRun(request: RecordedRequest): boolean {
  return request.query['dryRun'] === 'All'
}

function hasFinalizers(object: Json): boolean {
  const finalizers = childOf(object, 'metadata')['finalizers']
  return Array.isArray(finalizers) && finalizers.length > 0
}

function detailsOf(target: Target): { name: string; group?: string; kind: string } {
  return { name: target.name, ...(target.group && { group: target.group }), kind: target.plural }
}

function conflict(target: Target, why: string): Refusal {
  const resource = target.group ? `${target.plural}.${target.group}` : target.plural
  return new Refusal(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${resource} "${target.name}": ${why}`,
    detailsOf(target),
  )
}

function checkIdentity(target: Target, live: Json, given: Json): void {
  const stored = childOf(live, 'metadata')
  if (given['uid'] && given['uid'] !== stored['uid']) {
    throw conflict(
      target,
      `Precondition failed: UID in precondition: ${stringOf(given['uid'])}, UID in object meta: ${stringOf(stored['uid'])}`,
    )
  }
  if (given['resourceVersion'] && given['resourceVersion'] !== stored['resourceVersion']) {
    throw conflict(
      target,
      'the object has been modified; please apply your changes to the latest version and try again',
    )
  }
}

/** `/status` changes the status only; the object's own URL changes everything else. */
function throughSubresource(request: Target, live: Json, wanted: Json, managedFields?: readonly Json[]): Json {
  if (request.subresource !== 'status') {
    const { status: _status, ...rest } = wanted
    return live['status'] === undefined ? rest : { ...rest, status: live['status'] }
  }
  const metadata = managedFields ? { ...childOf(live, 'metadata'), managedFields } : live['metadata']
  const { status: _status, ...rest } = live
  return { ...rest, metadata, ...(wanted['status'] !== undefined && { status: wanted['status'] }) }
}
