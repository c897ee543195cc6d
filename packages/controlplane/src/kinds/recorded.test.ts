import { readFileSync } from 'node:fs'

import type { KubeObject, Stored } from '@tenure/kube'
import { expect, test, describe } from 'vitest'
import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString, isJsonObject, valueAtPath } from '@tenure/kube/model'

import type { ResourceDefinition } from '../registry/types.ts'
import { decodeBuiltIn } from '../schema/decode/decode.ts'
import { builtInCatalog } from './catalog.ts'
import type { Body } from './testdata/cases.ts'
import { CHANGED, CREATED, REFUSED } from './testdata/cases.ts'

interface Status {
  readonly code: number
  readonly message: string
  readonly details?: { readonly causes?: readonly { reason: string; message: string; field: string }[] }
}

const recorded = JSON.parse(readFileSync(new URL('testdata/recorded.json', import.meta.url), 'utf8')) as {
  readonly created: Readonly<Record<string, { readonly object: JsonObject; readonly cells: readonly unknown[] }>>
  readonly refused: Readonly<Record<string, Status>>
  readonly changed: Readonly<Record<string, Status>>
}
const catalog = builtInCatalog()
const UID = '01234567-89ab-4cde-8f01-23456789abcd'
const TIME = '2026-11-15T21:45:49Z'

function definitionOf(object: Body): ResourceDefinition {
  const found = catalog.find(
    ({ group, version, kind }) =>
      (group ? `${group}/${version}` : version) === object['apiVersion'] && kind === object['kind'],
  )
  if (!found) throw new Error(`No definition for ${String(object['kind'])}`)
  return found
}

/** Decodes and defaults a body as the registry does. */
function decoded(definition: ResourceDefinition, body: Body): KubeObject {
  const { schema } = definition
  if (!schema) throw new Error('Expected a built-in kind to have a schema')
  const { object, error } = decodeBuiltIn(schema, (ref) => definition.resolve(ref), body)
  expect(error).toBeUndefined()
  return definition.strategy.defaults?.(object as KubeObject) ?? (object as KubeObject)
}

function prepared(definition: ResourceDefinition, body: Body): KubeObject {
  const object = decoded(definition, body)
  const metadata = {
    ...object.metadata,
    uid: UID,
    creationTimestamp: TIME,
    ...(definition.namespaced && { namespace: 'kinds' }),
  }
  const created = definition.strategy.prepareForCreate?.({ ...object, metadata }) ?? { ...object, metadata }
  const generation = definition.strategy.generation === false ? {} : { generation: 1 }
  return { ...created, metadata: { ...created.metadata, ...generation } }
}

/** Replaces what differs in every run: uids, times, addresses and ports. */
function masked(object: unknown, uid: unknown): unknown {
  const text = JSON.stringify(object)
    .replaceAll(String(uid), UID)
    .replaceAll(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, TIME)
    .replaceAll(/"10\.(0|96|97|98|99|1[01]\d)\.\d+\.\d+"/g, '"ADDRESS"')
    .replaceAll(/"nodePort":\d+/g, '"nodePort":30000')
    .replaceAll(/\b\d+:\d+\/TCP/g, 'PORT/TCP')
  return JSON.parse(text)
}

function withoutAdmission(object: JsonObject): JsonObject {
  const { resourceVersion: _, ...metadata } = asJsonObject(object['metadata'])
  if (object['kind'] === 'PersistentVolumeClaim' || object['kind'] === 'PersistentVolume') {
    delete (metadata as Record<string, unknown>)['finalizers']
  }
  if (object['kind'] === 'Node') return { ...object, metadata, spec: {} }
  if (object['kind'] !== 'Pod') return { ...object, metadata }
  const { tolerations: _t, priority: _p, preemptionPolicy: _q, ...spec } = asJsonObject(object['spec'])
  const list = (spec['containers'] as JsonObject[]).map(({ volumeMounts, ...rest }) => {
    const mounts = (volumeMounts as JsonObject[] | undefined)?.filter(
      ({ name }) => !asString(name).startsWith('kube-api-access'),
    )
    return { ...rest, ...(mounts && mounts.length > 0 && { volumeMounts: mounts }) }
  })
  const volumes = (spec['volumes'] as JsonObject[]).filter(({ name }) => !asString(name).startsWith('kube-api-access'))
  return { ...object, metadata, spec: { ...spec, containers: list, volumes } }
}

function comparable(object: JsonObject): unknown {
  const result = masked(withoutAdmission(object), valueAtPath(object, 'metadata', 'uid'))
  // Admission sets the service account.
  const spec = valueAtPath(result, 'spec')
  if (object['kind'] === 'Pod' && isJsonObject(spec)) {
    const { serviceAccount: _, serviceAccountName: __, volumes, ...rest } = spec as Record<string, unknown>
    const kept = Array.isArray(volumes) && volumes.length > 0 ? { volumes } : {}
    return { ...(result as object), spec: { ...rest, ...kept } }
  }
  return result
}

describe('a created object is stored as kube-apiserver stores it', () => {
  test.each(CREATED.map(({ title, object }) => [title, object] as const))('%s', (title, body) => {
    const definition = definitionOf(body)
    const object = prepared(definition, body)
    expect(definition.strategy.validate?.(object) ?? []).toEqual([])
    const expected = recorded.created[title]
    if (!expected) throw new Error('No recorded answer')
    const ours =
      object['kind' as keyof KubeObject] === 'Pod'
        ? { ...object, spec: { volumes: [], ...asJsonObject(valueAtPath(object, 'spec')) } }
        : object
    expect(comparable(ours as unknown as JsonObject)).toEqual(comparable(expected.object))
  })
})

describe('an object is printed as kube-apiserver prints it', () => {
  test.each(CREATED.map(({ title, object }) => [title, object] as const))('%s', (title, body) => {
    const { printer } = definitionOf(body)
    const expected = recorded.created[title]
    if (!expected) throw new Error('No recorded answer')
    const now = Date.parse(asString(valueAtPath(expected.object, 'metadata', 'creationTimestamp')))
    const cells = printer.cells(expected.object, now)
    // On the recorded server a controller changed this column before it was printed.
    const late = title === 'API service' ? 2 : -1
    const withoutLate = (row: readonly unknown[]): unknown[] => row.filter((_, index) => index !== late)
    expect(withoutLate(cells)).toEqual(withoutLate(expected.cells))
    expect(printer.columns.length).toBe(cells.length)
  })
})

/** Fields that the registry validates for all kinds. */
const isMetadata = (field: string): boolean =>
  /^metadata\.(name$|labels$|annotations$|finalizers|ownerReferences|generateName)/.test(field)

type Cause = { readonly reason: string; readonly message: string; readonly field: string }

const sorted = (causes: readonly Cause[]): unknown[] =>
  causes
    .map(({ reason, message, field }) => `${field}: ${message} (${reason})`)
    .filter((cause, index, all) => all.indexOf(cause) === index)

function causesOf(status: Status | undefined): readonly Cause[] {
  return status?.details?.causes ?? []
}

describe('an invalid object is rejected with the texts of kube-apiserver', () => {
  // Admission rejects it before validation.
  const elsewhere = new Set(['bad account name'])
  const cases = REFUSED.filter(({ title }) => !elsewhere.has(title) && recorded.refused[title]?.code === 422)
  test.each(cases.map(({ title, object }) => [title, object] as const))('%s', (title, body) => {
    const definition = definitionOf(body)
    const object = prepared(definition, body)
    const ours = definition.strategy.validate?.(object) ?? []
    const causes = causesOf(recorded.refused[title]).filter(
      ({ field }) => !isMetadata(field) || ours.some((one) => one.field === field),
    )
    const uid = /controller-uid":"([0-9a-f-]{36})"/.exec(JSON.stringify(causes).replaceAll('\\"', '"'))?.[1] ?? 'no uid'
    expect(sorted(ours)).toEqual(sorted(masked(causes, uid) as Cause[]).map((one) => one))
  })
})

// The recorded message continues with a diff of Go structs.
const firstLine = (cause: Cause): Cause => ({ ...cause, message: cause.message.replace(/\n[^]*$/, '\n') })

describe('an invalid update is rejected with the texts of kube-apiserver', () => {
  test.each(CHANGED.map(({ title, object, patch }) => [title, object, patch] as const))('%s', (title, body, patch) => {
    const definition = definitionOf(body)
    const old = prepared(definition, body) as Stored<KubeObject>
    let next = decoded(definition, merged(old, patch ?? {}) as Body)
    next = definition.strategy.prepareForUpdate?.(next, old) ?? next
    const ours = definition.strategy.validateUpdate?.(next, old) ?? []
    const causes = causesOf(recorded.changed[title]).filter(({ field }) => !isMetadata(field))
    expect(sorted(ours)).toEqual(sorted(causes.map(firstLine)))
  })
})

function merged(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch
  const result: Record<string, unknown> = { ...asJsonObject(target) }
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else result[key] = merged(result[key], value)
  }
  return result
}
