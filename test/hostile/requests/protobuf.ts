import { type HostileRequest, MAX_BYTES, CORE, PROTOBUF, post } from './request.ts'

/** Bodies in protobuf. */
export function protobufRequests(): HostileRequest[] {
  return [
    post(
      'protobuf with many small fields',
      `${CORE}/configmaps?dryRun=All`,
      protobuf('v1', 'ConfigMap', Buffer.alloc(MAX_BYTES - 100, Buffer.from([0x12, 4, 0x0a, 2, 0x61, 0x62]))),
      PROTOBUF,
    ),
    post(
      'protobuf with many empty messages',
      `${CORE}/pods?dryRun=All`,
      protobuf('v1', 'Pod', Buffer.concat([lengthed(0x12, Buffer.alloc(2_900_000, Buffer.from([0x12, 0])))])),
      PROTOBUF,
    ),
    post(
      'deep protobuf',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All',
      protobuf('apiextensions.k8s.io/v1', 'CustomResourceDefinition', nested(30_000)),
      PROTOBUF,
    ),
    post(
      'protobuf of unknown fields',
      `${CORE}/configmaps?dryRun=All`,
      protobuf('v1', 'ConfigMap', Buffer.alloc(2_900_000, Buffer.from([0xf8, 0xff, 0xff, 0xff, 0x0f, 1]))),
      PROTOBUF,
    ),
    post(
      'truncated protobuf',
      `${CORE}/pods`,
      protobuf('v1', 'Pod', Buffer.from([0x12, 0xff, 0xff, 0xff, 0x7f])),
      PROTOBUF,
    ),
  ]
}

const varint = (value: number): number[] => {
  const bytes: number[] = []
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) + 128)
  return [...bytes, value]
}
const lengthed = (tag: number, bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from([tag, ...varint(bytes.length)]), bytes])

function protobuf(apiVersion: string, kind: string, raw: Buffer): Buffer {
  const meta = Buffer.concat([lengthed(0x0a, Buffer.from(apiVersion)), lengthed(0x12, Buffer.from(kind))])
  return Buffer.concat([Buffer.from('k8s\0'), lengthed(0x0a, meta), lengthed(0x12, raw)])
}

/** Messages in messages, each with a length. */
function nested(depth: number): Buffer {
  const parts: Buffer[] = []
  let length = 0
  for (let level = 0; level < depth; level++) {
    const head = Buffer.from([0x12, ...varint(length)])
    parts.push(head)
    length += head.length
  }
  return Buffer.concat(parts.toReversed())
}
