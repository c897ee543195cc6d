import { isJsonObject } from '@tenure/kube/model'
import type { KubeObject } from '@tenure/kube'
import { describe, expect, test } from 'vitest'

import type { StatusBody } from '../errors.ts'
import { StatusError, statusBody } from '../errors.ts'
import { patches } from '../patch/index.ts'
import { isList } from '../patch/json.ts'
import { decodeBuiltIn } from '../schema/decode/decode.ts'
import type { Schema } from '../schema/types.ts'
import { fieldManagement } from './field-management.ts'
import { entriesAfterScale, scaleEntries } from './managers/scale.ts'
import { isBuiltIn } from './fields/structure.ts'
import type { Sequence, Step } from './testing/recordings.ts'
import { recordedSequences, resolve, schemaFor } from './testing/recordings.ts'
import { unlessOnlyTimesDiffer } from './managers/timestamps.ts'

/** The result of one write: an error, or the object with the bytes of its managedFields. */
type Outcome = { readonly error: unknown } | { readonly object: unknown; readonly managedFields: string }

// Fields that defaulting adds to new containers and volumes; pruning removes `pruned`.
const DEFAULTED = new Set([
  'imagePullPolicy',
  'terminationMessagePath',
  'terminationMessagePolicy',
  'defaultMode',
  'targetPort',
  'pruned',
])
// Fields that objects get on creation, after ownership is decided.
const ALLOCATED = new Set([
  'clusterIP',
  'clusterIPs',
  'ipFamilies',
  'ipFamilyPolicy',
  'batch.kubernetes.io/controller-uid',
  'batch.kubernetes.io/job-name',
  'controller-uid',
  'job-name',
  'preemptionPolicy',
  'priority',
  'serviceAccount',
  'serviceAccountName',
])
const SET_BY_REGISTRY = new Set(['resourceVersion', 'generation', 'managedFields'])

function without(value: unknown, names: ReadonlySet<string>): unknown {
  if (isList(value)) return value.map((item) => without(item, names))
  if (!isJsonObject(value)) return value
  const kept = Object.entries(value).filter(([key]) => !names.has(key))
  return Object.fromEntries(kept.map(([key, member]) => [key, without(member, names)]))
}

/** The stored object without the fields that this package does not set. */
function essence(object: KubeObject, schema: Schema): unknown {
  const stored = isBuiltIn(schema) ? decodeBuiltIn(schema, resolve, object).object : object
  return without(without(stored, SET_BY_REGISTRY), DEFAULTED)
}

const outcome = (object: KubeObject, schema: Schema): Outcome => ({
  object: essence(object, schema),
  managedFields: JSON.stringify(
    object.metadata?.managedFields?.map((entry) => ({ ...EMPTY_ENTRY, ...entry })),
    // Custom kinds are written with keys sorted as text, which is not always the order of fields.
    isBuiltIn(schema) ? undefined : (_key, member: unknown) => (isJsonObject(member) ? inOrderOfText(member) : member),
    1,
  ),
})

const inOrderOfText = (object: object): object =>
  Object.fromEntries(Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1)))

const EMPTY_ENTRY = {
  manager: undefined,
  operation: undefined,
  apiVersion: undefined,
  time: undefined,
  fieldsType: undefined,
  fieldsV1: undefined,
}

/** kube-apiserver lists causes in no particular order. */
function errorOutcome(body: StatusBody | undefined): Outcome {
  const causes = body?.details?.causes?.toSorted((a, b) => (a.field ?? '').localeCompare(b.field ?? ''))
  return { error: causes ? { ...body, details: { ...body?.details, causes } } : body }
}

const recorded = ({ error, object }: Step, schema: Schema): Outcome =>
  object ? outcome(object, schema) : errorOutcome(error)

function withEntries(object: KubeObject, managedFields: unknown): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata ?? {}
  return { ...object, metadata: { ...metadata, ...(managedFields ? { managedFields } : {}) } } as KubeObject
}

function contextOf({ apiVersion, kind }: Sequence, { manager, subresource = '', at }: Step) {
  return { manager, apiVersion, subresource, schema: schemaFor(apiVersion, kind), resolve, now: at }
}

function patched(step: Step, live: KubeObject, schema: Schema): KubeObject {
  if (step.what === 'json') return patches.json(live, step.sent)
  if (step.what === 'merge') return patches.merge(live, step.sent)
  if (step.what === 'strategic') return patches.strategic(live, step.sent, schema, resolve)
  return step.sent as KubeObject
}

/** Replays the request; the registry's part (defaults, resets, allocation) comes from the recording. */
function replayed(sequence: Sequence, step: Step, live: KubeObject | undefined): Outcome {
  const context = contextOf(sequence, step)
  const { schema } = context
  if (step.what === 'apply') {
    const applied = step.sent as KubeObject
    const object = fieldManagement.apply({ ...context, live, applied, force: step.force ?? false })
    // A write to the object leaves its status unchanged, and a write to its status leaves the rest.
    const { spec, status } = (live ?? {}) as { readonly spec?: unknown; readonly status?: unknown }
    const kept = step.subresource ? { spec } : { status }
    const isKept = live !== undefined && sequence.kind !== 'Free' && Object.values(kept)[0] !== undefined
    const next = isKept ? { ...object, ...kept } : object
    return outcome(live ? unlessOnlyTimesDiffer(live, next) : next, schema)
  }
  const sent = live ? patched(step, live, schema) : (step.sent as KubeObject)
  const final = step.object ?? sent
  const next = live ? final : withoutAllocated(final)
  const object = fieldManagement.update({ ...context, live, next: withEntries(next, sent.metadata?.managedFields) })
  const { managedFields } = object.metadata ?? {}
  return outcome(withEntries(live && !step.subresource ? sent : final, managedFields), schema)
}

const ALLOCATED_TO: Readonly<Record<string, readonly string[]>> = {
  Job: ['selector'],
  PersistentVolumeClaim: ['finalizers'],
}

function withoutAllocated(object: KubeObject): KubeObject {
  return without(object, ALLOCATED.union(new Set(ALLOCATED_TO[object.kind ?? '']))) as KubeObject
}

/** Replays a write to `/scale`, which is made to the Scale and carried over to the object. */
function rescaled(sequence: Sequence, step: Step, live: KubeObject): Outcome {
  const parent = contextOf(sequence, step)
  const replicas = ['spec', 'replicas']
  const before = {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: 'o', uid: 'u', managedFields: scaleEntries(live.metadata?.managedFields, replicas) },
    spec: { replicas: (live as { readonly spec: { readonly replicas: number } }).spec.replicas },
  } as KubeObject
  const context = { ...parent, apiVersion: 'autoscaling/v1', schema: schemaFor('autoscaling/v1', 'Scale') }
  const scale =
    step.what === 'apply'
      ? fieldManagement.apply({
          ...context,
          live: before,
          applied: step.sent as KubeObject,
          force: step.force ?? false,
        })
      : fieldManagement.update({ ...context, live: before, next: patches.merge(before, step.sent) })
  const entries = entriesAfterScale(live.metadata?.managedFields, scale.metadata?.managedFields, {
    apiVersion: sequence.apiVersion,
    replicas,
  })
  return outcome(withEntries(step.object ?? live, entries), parent.schema)
}

function attempt(run: () => Outcome): Outcome {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return errorOutcome(statusBody(error))
  }
}

/** Errors of validation, which field management does not produce. */
const isOthers = ({ error }: Step): boolean => / is invalid: /.test(error?.message ?? '')

describe.each(recordedSequences())('$title as recorded from kube-apiserver', (sequence) => {
  const schema = schemaFor(sequence.apiVersion, sequence.kind)
  let live: KubeObject | undefined
  const cases = sequence.steps.map((step, at) => {
    const before = live
    live = step.object ?? live
    const where = step.subresource ? ` to /${step.subresource}` : ''
    return { name: `${at}. ${step.what} by ${step.manager}${where}`, step, before }
  })

  test.each(cases.filter(({ step }) => !isOthers(step)))('$name gives the recorded result', ({ step, before }) => {
    const result = attempt(() =>
      before && step.subresource === 'scale' ? rescaled(sequence, step, before) : replayed(sequence, step, before),
    )
    expect(result).toEqual(recorded(step, schema))
  })
})
