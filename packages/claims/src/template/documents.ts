/** Reads the output of a template: YAML or JSON documents, each an object of the API. */
import { asArray, asString, isJsonObject, ownValue } from '@tenure/kube/model'
import type { JsonObject } from '@tenure/kube/model'
import { readYaml, YamlError } from '@tenure/yaml'
import { ClaimTemplateError } from './types.ts'
import type { Manifest } from './types.ts'

/** Set by the API server, or, as owners and status, by controllers. A foreign owner would keep the object alive after its claim. */
const SERVER_FIELDS: ReadonlySet<string> = new Set([
  'creationTimestamp',
  'deletionGracePeriodSeconds',
  'deletionTimestamp',
  'generation',
  'managedFields',
  'ownerReferences',
  'resourceVersion',
  'selfLink',
  'uid',
])

/** Nested Lists; deeper ones are not written by people. */
const MAX_LIST_DEPTH = 10

/** The objects of a rendered text, in its order. Throws a ClaimTemplateError. */
export function readDocuments(text: string, namespace: string): readonly Manifest[] {
  const manifests: Manifest[] = []
  for (const [index, document] of splitDocuments(text).entries()) {
    const place = `document ${index + 1}`
    const value = parseDocument(document, place)
    // Only comments, or nothing.
    if (value === null) continue
    addObjects(manifests, value, { place, namespace, depth: 0 })
  }
  if (manifests.length === 0) throw new ClaimTemplateError('the template renders no resources')
  refuseDuplicates(manifests)
  return manifests
}

/** `---` and `...` at the beginning of a line separate documents; YAML allows them nowhere else. */
const SEPARATOR = /^(?:---|\.\.\.)(?=\s|$)/m

function splitDocuments(text: string): readonly string[] {
  return text
    .split(SEPARATOR)
    .filter((document) => document.trim() !== '')
    .flatMap((document) => (document.trimStart().startsWith('{') ? splitJson(document) : [document]))
}

/** JSON objects may follow each other without a separator. YAML that looks like JSON is returned as it is. */
function splitJson(text: string): readonly string[] {
  const documents: string[] = []
  let start = 0
  let depth = 0
  let isText = false
  for (let at = 0; at < text.length; at++) {
    const letter = text.charAt(at)
    if (isText) {
      if (letter === '\\') at++
      else if (letter === '"') isText = false
    } else if (letter === '"') isText = true
    else if (letter === '{') depth++
    else if (letter === '}' && --depth === 0) {
      documents.push(text.slice(start, at + 1))
      start = at + 1
    }
  }
  return text.slice(start).trim() === '' && documents.every(isJson) ? documents : [text]
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function parseDocument(text: string, place: string): unknown {
  try {
    return readYaml(text).value
  } catch (error) {
    throw new ClaimTemplateError(`${place}: ${yamlProblem(error)}`)
  }
}

/** The message of the YAML reader. Messages that are not about syntax end with the contents, which are left out. */
export function yamlProblem(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return error instanceof YamlError ? message : message.split(': ').slice(0, 2).join(': ')
}

interface Place {
  /** `document 2`, or `document 2, item 1` for an item of a List. */
  readonly place: string
  readonly namespace: string
  readonly depth: number
}

function addObjects(manifests: Manifest[], value: unknown, at: Place): void {
  if (!isJsonObject(value)) throw new ClaimTemplateError(`${at.place} is not an object`)
  if (value['kind'] !== 'List' || value['apiVersion'] !== 'v1') {
    manifests.push(manifestOf(value, at))
    return
  }
  if (at.depth === MAX_LIST_DEPTH) throw new ClaimTemplateError(`${at.place}: Lists are nested too deep`)
  for (const [index, item] of asArray(value['items']).entries()) {
    addObjects(manifests, item, { ...at, place: `${at.place}, item ${index + 1}`, depth: at.depth + 1 })
  }
}

function manifestOf(object: JsonObject, { place, namespace }: Place): Manifest {
  const apiVersion = asString(ownValue(object, 'apiVersion'))
  const kind = asString(ownValue(object, 'kind'))
  const metadata = ownValue(object, 'metadata') ?? {}
  const name = isJsonObject(metadata) ? asString(ownValue(metadata, 'name')) : ''
  const fail = (problem: string): ClaimTemplateError =>
    new ClaimTemplateError(`${place}${shownIdentity(kind, name)} ${problem}`)
  if (apiVersion === '') throw fail('has no apiVersion')
  if (kind === '') throw fail('has no kind')
  if (!isJsonObject(metadata)) throw fail('has a metadata that is not an object')
  const actual = ownValue(metadata, 'name')
  if (actual !== undefined && actual !== null && typeof actual !== 'string') {
    throw fail('has a metadata.name that is not a text; quote it')
  }
  if (name === '') throw fail('has no metadata.name')
  // The API server allows these in no name, and they would change the path of a request.
  if (/[/%]|^\.\.?$/.test(name)) throw fail('has a metadata.name that Kubernetes does not allow')
  for (const field of ['labels', 'annotations']) checkTexts(ownValue(metadata, field), field, fail)
  const kept = Object.entries(metadata).filter(([field]) => !SERVER_FIELDS.has(field))
  return Object.fromEntries([
    ...Object.entries(object).filter(([field]) => field !== 'status'),
    ['metadata', { ...Object.fromEntries(kept), name, namespace }],
  ]) as Manifest
}

/** The API server refuses labels and annotations that are not texts, as an unquoted `true`. */
function checkTexts(value: unknown, field: string, fail: (problem: string) => ClaimTemplateError): void {
  if (value === undefined || value === null) return
  if (!isJsonObject(value)) throw fail(`has metadata.${field} that are not an object`)
  for (const [key, text] of Object.entries(value)) {
    if (text !== null && typeof text !== 'string') {
      throw fail(`has a value that is not a text in metadata.${field}, at ${key}; quote it`)
    }
  }
}

const shownIdentity = (kind: string, name: string): string => {
  const known = [kind, name && JSON.stringify(name)].filter(Boolean).join(' ')
  return known && ` (${known})`
}

function refuseDuplicates(manifests: readonly Manifest[]): void {
  const seen = new Set<string>()
  for (const { apiVersion, kind, metadata } of manifests) {
    // An object is the same in every version of its group.
    const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
    const key = JSON.stringify([group, kind, metadata.name])
    if (seen.has(key)) throw new ClaimTemplateError(`the template renders ${kind} "${metadata.name}" twice`)
    seen.add(key)
  }
}
