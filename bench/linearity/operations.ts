import type { KubeObject } from '@tenure/kube'
import type { JsonObject } from '@tenure/kube/model'
import { missingPermissions } from '../../packages/controlplane/src/admission/rbac/missing-permissions.ts'
import { fieldManagement } from '../../packages/controlplane/src/apply/index.ts'
import { applyJsonPatch } from '../../packages/controlplane/src/patch/json-patch.ts'
import { applyMergePatch } from '../../packages/controlplane/src/patch/merge-patch.ts'
import { applyStrategicPatch } from '../../packages/controlplane/src/patch/strategic-patch.ts'
import { parseJson } from '../../packages/controlplane/src/registry/decode/json-text.ts'
import { validateRules } from '../../packages/controlplane/src/schema/cel/validate.ts'
import { decodeBuiltIn } from '../../packages/controlplane/src/schema/decode/decode.ts'
import { builtInSchema, resolveBuiltIn } from '../../packages/controlplane/src/schema/openapi/builtin.ts'
import type { Schema } from '../../packages/controlplane/src/schema/types.ts'
import { process as validate } from '../../packages/controlplane/src/schema/validation/process.ts'
import { isApplied } from '../../packages/runtime/src/actions/field-set.ts'

/** An operation of the API server whose work must grow no faster than its input. */
export interface LinearOperation {
  readonly what: string
  /** Prepares an input of this many items and returns the operation on it. */
  prepare(items: number): () => unknown
  /**
   * The least work on the same input, in plain loops: what the memory alone costs. For operations that touch so much
   * memory that the caches of the processor decide.
   */
  bare?(items: number): () => unknown
}

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index)
/** The same items in an order that is neither theirs nor its reverse. */
const shuffled = <T>(items: readonly T[]): readonly T[] =>
  items.map((_, index) => items[(index * 7919) % items.length] as T)

const schemaOf = (kind: string): Schema => {
  const schema = builtInSchema('', 'v1', kind)
  if (!schema) throw new Error(`no schema of ${kind}`)
  return schema
}
const POD = schemaOf('Pod')
const noReferences = (ref: string): never => {
  throw new Error(`Unexpected reference ${ref}`)
}

const keyed = (count: number, value: unknown): Record<string, unknown> =>
  Object.fromEntries(numbers(count).map((index) => [`k${index}`, value]))
const containers = (count: number, image: string) => numbers(count).map((index) => ({ name: `n${index}`, image }))
const pod = (list: readonly object[]): KubeObject =>
  ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: list } }) as unknown as KubeObject

const list = (items: Schema, listType: Schema['listType'], more: Partial<Schema> = {}): Schema => ({
  type: 'object',
  properties: {
    list: { type: 'array', items, ...(listType && { listType }), ...(listType === 'map' && KEYS), ...more },
  },
})
const KEYS = { listMapKeys: ['name'] }
const ENTRY: Schema = {
  type: 'object',
  properties: { name: { type: 'string' }, size: { type: 'integer', maximum: 10_000_000 } },
}
const entries = (count: number) => numbers(count).map((index) => ({ name: `n${index}`, size: index }))

const applyTo = (live: KubeObject | undefined, applied: KubeObject, now: string): KubeObject =>
  fieldManagement.apply({
    live,
    applied,
    manager: 'bench',
    force: true,
    apiVersion: 'v1',
    subresource: '',
    schema: POD,
    resolve: resolveBuiltIn,
    now,
  })

const validation = (what: string, schema: Schema, values: (count: number) => readonly unknown[]): LinearOperation => ({
  what,
  prepare: (count) => {
    const value = { list: values(count) }
    return () => validate(schema, noReferences, value, { default: true, prune: true })
  },
})

const rule = (index: number) => ({ apiGroups: [''], resources: [`r${index}`], verbs: ['get', 'list'] })

export const operations: readonly LinearOperation[] = [
  {
    what: 'JSON patch: an add per ten keys of a ConfigMap',
    prepare: (count) => {
      const data = Object.fromEntries(numbers(count).map((index) => [`k${index}`, 'x']))
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data } as unknown as KubeObject
      const patch = numbers(count / 10).map((index) => ({ op: 'add', path: `/data/n${index}`, value: 'y' }))
      return () => applyJsonPatch(object, patch)
    },
  },
  {
    what: 'JSON patch: inserts at both ends of a list, one per ten items',
    prepare: (count) => {
      const object = { metadata: { name: 'c' }, list: numbers(count) } as unknown as KubeObject
      const patch = numbers(count / 10).map((index) => ({
        op: 'add',
        path: `/list/${index % 2 ? '0' : '-'}`,
        value: 0,
      }))
      return () => applyJsonPatch(object, patch)
    },
  },
  {
    what: 'merge patch: every key of a ConfigMap',
    prepare: (count) => {
      const object = { metadata: { name: 'c' }, data: keyed(count, 'x') } as unknown as KubeObject
      const patch = { data: keyed(count, 'y') }
      return () => applyMergePatch(object, patch)
    },
    bare: (count) => {
      const [data, patch] = [keyed(count, 'x'), keyed(count, 'y')]
      return () => {
        const copy: Record<string, unknown> = { ...data }
        for (const key of Object.keys(patch)) copy[key] = patch[key]
        return copy
      }
    },
  },
  {
    what: 'strategic merge: every item of a list by its key',
    prepare: (count) => {
      const object = pod(containers(count, '1'))
      const patch = { spec: { containers: shuffled(containers(count, '2')) } }
      return () => applyStrategicPatch(object, patch, POD, resolveBuiltIn)
    },
    bare: (count) => {
      const [items, changes] = [containers(count, '1'), shuffled(containers(count, '2'))]
      return () => {
        const places = new Map(items.map(({ name }, index) => [name, index]))
        const merged: object[] = [...items]
        for (const change of changes) {
          const place = places.get(change.name) ?? 0
          merged[place] = { ...merged[place], ...change }
        }
        return merged
      }
    },
  },
  {
    what: 'strategic merge: half of the items deleted',
    prepare: (count) => {
      const object = pod(containers(count, '1'))
      const gone = containers(count / 2, '').map(({ name }) => ({ name, $patch: 'delete' }))
      return () => applyStrategicPatch(object, { spec: { containers: gone } }, POD, resolveBuiltIn)
    },
  },
  {
    what: 'apply: a new object',
    prepare: (count) => {
      const applied = pod(shuffled(containers(count, '1')))
      return () => applyTo(undefined, applied, '2026-01-01T00:00:00Z')
    },
    bare: (count) => {
      const items = shuffled(containers(count, '1'))
      return () => {
        const fields: Record<string, object> = {}
        const names = items.map(({ name }) => `k:{"name":"${name}"}`)
        for (const name of names.toSorted()) fields[name] = { '.': {}, 'f:image': {}, 'f:name': {} }
        return fields
      }
    },
  },
  {
    what: 'apply: every item changes, a tenth goes away',
    prepare: (count) => {
      const live = applyTo(undefined, pod(containers(count, '1')), '2026-01-01T00:00:00Z')
      const applied = pod(shuffled(containers(count, '2')).slice(count / 10))
      return () => applyTo(live, applied, '2026-01-01T00:00:01Z')
    },
  },
  {
    what: 'CEL: an item rule with oldSelf on update',
    prepare: (count) => {
      const rules = [{ rule: 'self.size >= oldSelf.size' }]
      const schema = list({ ...ENTRY, rules }, 'map')
      const [old, value] = [{ list: entries(count) }, { list: shuffled(entries(count)) }]
      return () => validateRules(schema, value, { old })
    },
  },
  {
    what: 'CEL: a failing item rule on an unchanged list',
    prepare: (count) => {
      const schema = list({ ...ENTRY, rules: [{ rule: 'self.size < 0' }] }, 'atomic')
      const [old, value] = [{ list: entries(count) }, { list: entries(count) }]
      return () => validateRules(schema, value, { old })
    },
  },
  validation('validation: a list of type map', list(ENTRY, 'map'), entries),
  validation('validation: a list of type set', list({ type: 'string' }, 'set'), (count) =>
    numbers(count).map((index) => `n${index}`),
  ),
  validation('validation: unique items', list(ENTRY, undefined, { uniqueItems: true }), entries),
  validation(
    'validation: a pattern on every item',
    list({ type: 'string', pattern: '^n[0-9]+$' }, undefined),
    (count) => numbers(count).map((index) => `n${index}`),
  ),
  validation('validation: every item is wrong', list({ type: 'integer' }, undefined), (count) =>
    numbers(count).map((index) => `n${index}`),
  ),
  {
    what: 'validation: errors of an unchanged list are dropped',
    prepare: (count) => {
      const schema = list(
        { ...ENTRY, properties: { name: { type: 'string' }, size: { type: 'integer', maximum: 0 } } },
        'map',
      )
      const [old, value] = [{ list: entries(count) }, { list: shuffled(entries(count)) }]
      return () => validate(schema, noReferences, value, { default: true, prune: true, old })
    },
  },
  {
    what: 'decoding: unknown fields',
    prepare: (count) => {
      const value = { apiVersion: 'v1', kind: 'Pod', spec: keyed(count, 1) }
      return () => decodeBuiltIn(POD, resolveBuiltIn, value)
    },
    bare: (count) => {
      const spec = keyed(count, 1)
      return () => Object.keys(spec).filter((key) => spec[key] === undefined)
    },
  },
  {
    what: 'decoding: duplicate keys in JSON',
    prepare: (count) => {
      const text = `{"${'k'.repeat(10_000)}":{${numbers(count)
        .map((index) => `"a${index % 2}":1`)
        .join()}}}`
      return () => parseJson(text)
    },
  },
  {
    what: "operators' comparison: an applied list of which nothing changed",
    prepare: (count) => {
      const live = applyTo(undefined, pod(containers(count, '1')), '2026-01-01T00:00:00Z') as unknown as JsonObject
      const fields = (live as unknown as KubeObject).metadata?.managedFields?.[0]?.fieldsV1 as JsonObject
      const desired = pod(containers(count, '1')) as unknown as JsonObject
      return () => isApplied(fields, desired, live, true)
    },
  },
  {
    what: 'escalation check: a rule per item, 100 held',
    prepare: (count) => {
      const held = numbers(100).map(rule)
      const wanted = numbers(count).map((index) => rule(index % 100))
      return () => missingPermissions(held, wanted)
    },
  },
]
