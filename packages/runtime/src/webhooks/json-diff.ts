import type { JsonPatchOperation } from '@tenure/kube'
import { jsonPointer } from '@tenure/kube'
import { isDeepEqual, isJsonObject, type JsonObject } from '@tenure/kube/model'

/**
 * RFC 6902 operations that turn `before` into `after`. Both are JSON values; an `undefined` property counts as missing,
 * as in JSON.stringify. Unchanged values are not mentioned, so that numbers beyond the precision of JavaScript survive.
 */
export function diffJson(before: unknown, after: unknown): readonly JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = []
  compare(before, after, '', operations)
  return operations
}

function compare(before: unknown, after: unknown, path: string, into: JsonPatchOperation[]): void {
  if (before === after) return
  if (Array.isArray(before) && Array.isArray(after)) compareArrays(before, after, path, into)
  else if (isJsonObject(before) && isJsonObject(after)) compareRecords(before, after, path, into)
  else into.push({ op: 'replace', path, value: after })
}

function compareRecords(before: JsonObject, after: JsonObject, path: string, into: JsonPatchOperation[]): void {
  for (const key of Object.keys(before)) {
    if (before[key] !== undefined && !has(after, key)) into.push({ op: 'remove', path: path + jsonPointer(key) })
  }
  for (const key of Object.keys(after)) {
    const value = after[key]
    if (value === undefined) continue
    if (has(before, key)) compare(before[key], value, path + jsonPointer(key), into)
    else into.push({ op: 'add', path: path + jsonPointer(key), value })
  }
}

/** Trims equal elements at both ends, so that an insertion is one `add` and does not rewrite the rest. */
function compareArrays(
  before: readonly unknown[],
  after: readonly unknown[],
  path: string,
  into: JsonPatchOperation[],
): void {
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && isDeepEqual(before[head], after[head])) head++
  let tail = 0
  while (tail < shorter - head && isDeepEqual(before.at(-1 - tail), after.at(-1 - tail))) tail++

  const removed = before.length - head - tail
  const added = after.length - head - tail
  const changed = Math.min(removed, added)
  for (let index = head; index < head + changed; index++) {
    compare(before[index], element(after[index]), path + jsonPointer(index), into)
  }
  // From the end, so that a removal does not shift the elements of later operations.
  for (let index = head + removed - 1; index >= head + changed; index--) {
    into.push({ op: 'remove', path: path + jsonPointer(index) })
  }
  for (let index = head + changed; index < head + added; index++) {
    into.push({ op: 'add', path: path + jsonPointer(index), value: element(after[index]) })
  }
}

/** JSON has no holes: they are written as null. */
function element(value: unknown): unknown {
  return value === undefined ? null : value
}

function has(record: JsonObject, key: string): boolean {
  return Object.hasOwn(record, key) && record[key] !== undefined
}
