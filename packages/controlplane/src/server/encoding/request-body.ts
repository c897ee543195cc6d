import { badRequest, StatusError } from '../../errors.ts'
import { JsonSyntaxError, parseJson } from '../../registry/decode/json-text.ts'
import { MAX_STORED_BYTES, tooLargeToStore } from '../../model/object-size.ts'
import type { DuplicateKeys } from '@tenure/yaml'
import { goQuote } from '../../schema/go-text.ts'

/** Larger bodies are refused, as in kube-apiserver. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024

export const tooLarge = (): StatusError =>
  new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${MAX_BODY_BYTES}`)

export interface ParsedBody {
  readonly value: unknown
  /** Undefined without duplicate keys. */
  readonly duplicateKeys?: DuplicateKeys
}

/** The wording of errors in a body, which depends on its purpose. */
export interface BodyPurpose {
  readonly json: (why: string) => string
  readonly yaml: (why: string) => string
}

/** For an object of this kind. */
export function objectPurpose(kind: string, text: string): BodyPurpose {
  const summary = summarize(text)
  const unrecognized = (why: string) =>
    `the object provided is unrecognized (must be of type ${kind}): ${why} (${summary})`
  return {
    json: (why) => unrecognized(`couldn't get version/kind; json parse error: ${why}`),
    yaml: unrecognized,
  }
}

export const OPTIONS_PURPOSE: BodyPurpose = {
  json: (why) => `couldn't get version/kind; json parse error: ${why}`,
  yaml: (why) => why,
}

export function patchPurpose(type: string): BodyPurpose {
  return type === 'application/strategic-merge-patch+json'
    ? { json: (why) => why, yaml: (why) => why }
    : {
        json: (why) => `error decoding patch: ${why}`,
        yaml: (why) => `error decoding YAML: error converting YAML to JSON: ${why}`,
      }
}

const MAX_SUMMARY_BYTES = 30

function summarize(text: string): string {
  if (text === '') return '<empty>'
  // Cut by bytes, as in Go; no more than needed are encoded.
  const bytes = Buffer.from(text.slice(0, MAX_SUMMARY_BYTES + 1))
  const start = bytes.subarray(0, MAX_SUMMARY_BYTES)
  const shown = start.toString(text.startsWith('{') ? 'utf8' : 'hex')
  return bytes.length > MAX_SUMMARY_BYTES ? `${shown} ...` : shown
}

/** Escapes that only JSON has. */
const JSON_ESCAPE = /\\(?:\/|u[dD][89a-fA-F])/
/** Characters that JSON accepts unescaped and YAML refuses or treats as line ends. */
// eslint-disable-next-line no-control-regex -- the pattern matches control characters on purpose
const SPECIAL = /[\x7f-\x9f\u2028\u2029\ufffe\uffff]/
/** YAML limits keys to 1024 characters from quote to colon. The YAML reader decides about keys near the limit. */
const MAX_SAFE_KEY_LENGTH = 1000

/** Most YAML bodies are JSON, and nearly all JSON is YAML: then JSON.parse is enough. */
function isSurelyBoth(text: string): boolean {
  return /^\s*[{[]/.test(text) && !JSON_ESCAPE.test(text) && !SPECIAL.test(text) && !hasLongKey(text)
}

/** May be true for text without a long key. */
function hasLongKey(text: string): boolean {
  for (let colon = text.indexOf(':'); colon >= 0; colon = text.indexOf(':', colon + 1)) {
    let end = colon - 1
    while (end > 0 && text.charCodeAt(end) <= SPACE) end--
    if (text.charCodeAt(end) === QUOTE && colon - text.lastIndexOf('"', end - 1) > MAX_SAFE_KEY_LENGTH) return true
  }
  return false
}
const SPACE = 0x20
const QUOTE = 0x22

/** Parses a body in JSON or YAML. Throws a 400 with kube-apiserver's message. */
export async function parseBody(text: string, isYaml: boolean, purpose: BodyPurpose): Promise<ParsedBody> {
  if (isYaml && !isSurelyBoth(text)) return parseYaml(text, purpose)
  try {
    const { value, duplicates } = parseJson(text)
    if (duplicates.length === 0) return { value }
    // The messages for duplicate keys depend on the format of the request.
    return isYaml ? await parseYaml(text, purpose) : { value, duplicateKeys: duplicateFields(duplicates) }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    if (isYaml) return parseYaml(text, purpose)
    throw badRequest(purpose.json(error.message))
  }
}

function duplicateFields(paths: readonly string[]): DuplicateKeys {
  const warnings = paths.map((path) => `duplicate field ${goQuote(path)}`)
  return { error: warnings.join(', '), warnings }
}

async function parseYaml(text: string, purpose: BodyPurpose): Promise<ParsedBody> {
  const { readYaml, YamlTooLargeError } = await import('@tenure/yaml')
  try {
    // YAML is read much slower than JSON: what cannot be stored is not read to the end.
    const { value, ...rest } = readYaml(text, { maxJsonBytes: MAX_STORED_BYTES })
    // kube-apiserver takes an empty document for an empty object.
    return { value: value ?? {}, ...rest }
  } catch (error) {
    if (error instanceof YamlTooLargeError) throw tooLargeToStore()
    throw badRequest(purpose.yaml(error instanceof Error ? error.message : String(error)))
  }
}
