import { expect, test } from 'vitest'
import { jsonFromProtobuf } from './protobuf.ts'

// Writes the wire format by hand, as the counterpart of the reader under test.
const varint = (value: number): Buffer => {
  const bytes: number[] = []
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest])
    bytes.push((rest % 128) + 128)
  }
}
const bytes = (number: number, value: Buffer | string): Buffer => {
  const content = Buffer.from(value)
  return Buffer.concat([varint(number * 8 + 2), varint(content.length), content])
}
const integer = (number: number, value: number): Buffer => Buffer.concat([varint(number * 8), varint(value)])
const envelope = (apiVersion: string, kind: string, ...raw: readonly Buffer[]): Buffer =>
  Buffer.concat([
    Buffer.from('k8s\u0000'),
    bytes(1, Buffer.concat([bytes(1, apiVersion), bytes(2, kind)])),
    bytes(2, Buffer.concat(raw)),
  ])
const entry = (key: string, value: string): Buffer => Buffer.concat([bytes(1, key), bytes(2, value)])

test('maps, metadata and times are decoded', () => {
  const metadata = Buffer.concat([
    bytes(1, 'a'),
    bytes(3, ''),
    bytes(8, integer(1, 1_767_225_600)),
    bytes(11, entry('x', 'y')),
  ])
  const body = envelope(
    'v1',
    'ConfigMap',
    bytes(1, metadata),
    bytes(2, entry('__proto__', 'b')),
    bytes(3, entry('k', 'bytes')),
  )
  expect(jsonFromProtobuf(body)).toBe(
    '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","creationTimestamp":"2026-01-01T00:00:00Z","labels":{"x":"y"}},"data":{"__proto__":"b"},"binaryData":{"k":"Ynl0ZXM="}}',
  )
})

test('a zero that was set is kept, and a zero that means absent is dropped', () => {
  const spec = Buffer.concat([integer(1, 0), integer(5, 0)])
  expect(JSON.parse(jsonFromProtobuf(envelope('apps/v1', 'Deployment', bytes(2, spec))))).toMatchObject({
    spec: { replicas: 0 },
  })
  expect(jsonFromProtobuf(envelope('apps/v1', 'Deployment', bytes(2, spec)))).not.toContain('minReadySeconds')
})

test('inlined messages, quantities and int-or-strings are decoded', () => {
  const volume = Buffer.concat([bytes(1, 'v'), bytes(2, bytes(2, Buffer.alloc(0)))])
  const limits = bytes(8, bytes(1, Buffer.concat([bytes(1, 'cpu'), bytes(2, bytes(1, '100m'))])))
  const probe = bytes(10, bytes(1, bytes(2, bytes(2, Buffer.concat([integer(1, 1), bytes(3, 'http')])))))
  const container = Buffer.concat([bytes(1, 'c'), limits, probe])
  const pod = JSON.parse(
    jsonFromProtobuf(envelope('v1', 'Pod', bytes(2, Buffer.concat([bytes(1, volume), bytes(2, container)])))),
  ) as object
  expect(pod).toMatchObject({
    spec: {
      volumes: [{ name: 'v', emptyDir: {} }],
      containers: [{ name: 'c', resources: { limits: { cpu: '100m' } }, livenessProbe: { httpGet: { port: 'http' } } }],
    },
  })
})

test('the schema of a CustomResourceDefinition is decoded', () => {
  const type = (name: string): Buffer => bytes(5, name)
  const property = (name: string, ...schema: readonly Buffer[]): Buffer =>
    bytes(29, Buffer.concat([bytes(1, name), bytes(2, Buffer.concat(schema))]))
  const rule = Buffer.concat([bytes(1, 'self.size > 0'), bytes(2, 'too small')])
  const schema = Buffer.concat([
    type('object'),
    property('size', type('integer'), integer(13, 0), bytes(8, bytes(1, '3')), bytes(20, bytes(1, '3'))),
    property('list', type('array'), bytes(24, bytes(1, type('string')))),
    property('map', type('object'), bytes(30, Buffer.concat([integer(1, 1), bytes(2, type('string'))]))),
    property('any', type('object'), bytes(30, integer(1, 1)), integer(38, 1)),
    property('none', type('object'), bytes(30, integer(1, 0))),
    bytes(23, 'size'),
    bytes(44, rule),
  ])
  const subresources = bytes(5, bytes(1, ''))
  const version = Buffer.concat([
    bytes(1, 'v1'),
    integer(2, 1),
    integer(3, 1),
    bytes(4, bytes(1, schema)),
    subresources,
  ])
  const body = envelope('apiextensions.k8s.io/v1', 'CustomResourceDefinition', bytes(2, bytes(7, version)))
  expect(JSON.parse(jsonFromProtobuf(body))).toMatchObject({
    spec: {
      versions: [
        {
          name: 'v1',
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                size: { type: 'integer', maxLength: 0, default: 3, enum: [3] },
                list: { type: 'array', items: { type: 'string' } },
                map: { type: 'object', additionalProperties: { type: 'string' } },
                any: { additionalProperties: true, 'x-kubernetes-preserve-unknown-fields': true },
                none: { additionalProperties: false },
              },
              required: ['size'],
              'x-kubernetes-validations': [{ rule: 'self.size > 0', message: 'too small' }],
            },
          },
        },
      ],
    },
  })
})

test.each([
  ['a body without the magic', Buffer.from('{"a":1}')],
  ['an unknown kind', envelope('v1', 'Nonsense')],
  ['a truncated body', envelope('v1', 'ConfigMap', bytes(1, 'xyz')).subarray(0, -2)],
  ['a length beyond the end', Buffer.concat([Buffer.from('k8s\u0000'), Buffer.from([0x12, 0xff, 0xff, 0xff, 0x7f])])],
])('%s gets 400', (_, body) => {
  expect(() => jsonFromProtobuf(body)).toThrow(expect.objectContaining({ code: 400 }))
})
