import { readFileSync } from 'node:fs'
import path from 'node:path'

import type { KubeObject } from '@tenure/kube'

import type { StatusBody } from '../../errors.ts'
import { builtInSchema, resolveBuiltIn } from '../../schema/openapi/builtin.ts'
import type { Schema } from '../../schema/types.ts'

/** One recorded request to kube-apiserver and its response. */
export interface Step {
  readonly what: 'create' | 'update' | 'apply' | 'json' | 'merge' | 'strategic'
  readonly manager: string
  readonly subresource?: string
  readonly force?: boolean
  readonly sent: unknown
  readonly status: number
  /** Time of the response. */
  readonly at: string
  /** The object after the request; undefined if it was refused. */
  readonly object?: KubeObject
  readonly error?: StatusBody
}

/** Consecutive requests for one object, with the responses of Kubernetes 1.36.3. */
export interface Sequence {
  readonly title: string
  readonly apiVersion: string
  readonly kind: string
  readonly steps: readonly Step[]
}

export function recordedSequences(): readonly Sequence[] {
  const lines = readFileSync(path.join(import.meta.dirname, 'recordings.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
  return lines.map((line) => JSON.parse(line) as Sequence)
}

const TEXT: Schema = { type: 'string' }
const INTEGER: Schema = { type: 'integer' }

/** The custom kind of the recordings. */
export const THING: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        tags: { type: 'array', items: TEXT, listType: 'set' },
        atomic: { type: 'array', items: TEXT },
        parts: {
          type: 'array',
          listType: 'map',
          listMapKeys: ['name', 'kind'],
          items: {
            type: 'object',
            required: ['name'],
            properties: {
              name: TEXT,
              kind: { type: 'string', default: 'x' },
              size: INTEGER,
              deep: { type: 'object', properties: { a: TEXT, b: TEXT } },
            },
          },
        },
        point: { type: 'object', mapType: 'atomic', properties: { x: INTEGER, y: INTEGER } },
        any: { type: 'object', preserveUnknown: true },
        labels: { type: 'object', additionalProperties: TEXT },
        groups: {
          type: 'object',
          additionalProperties: { type: 'object', properties: { n: INTEGER, m: INTEGER } },
        },
        port: { intOrString: true },
      },
    },
    status: {
      type: 'object',
      properties: {
        phase: TEXT,
        conditions: {
          type: 'array',
          listType: 'map',
          listMapKeys: ['type'],
          items: { type: 'object', required: ['type'], properties: { type: TEXT, status: TEXT } },
        },
      },
    },
  },
}

/** A custom kind that accepts any fields. */
const FREE: Schema = { type: 'object', preserveUnknown: true }

/** A custom kind with an embedded resource, and with a schema inside a part without one. */
const HOLDER: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        template: { type: 'object', embeddedResource: true, preserveUnknown: true },
        nums: { type: 'array', items: INTEGER, listType: 'set' },
        deep: {
          type: 'object',
          preserveUnknown: true,
          properties: {
            inner: { type: 'object', properties: { a: TEXT } },
            list: { type: 'array', items: { type: 'object', properties: { b: TEXT } } },
          },
        },
      },
    },
  },
}
const CUSTOM: Readonly<Record<string, Schema>> = { Thing: THING, Free: FREE, Holder: HOLDER }

export const resolve = resolveBuiltIn

export function schemaFor(apiVersion: string, kind: string): Schema {
  const slash = apiVersion.indexOf('/')
  const group = slash < 0 ? '' : apiVersion.slice(0, slash)
  return builtInSchema(group, apiVersion.slice(slash + 1), kind) ?? CUSTOM[kind] ?? FREE
}
