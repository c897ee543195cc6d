import { badRequest, StatusError } from '../../errors.ts'
import { JsonSyntaxError, parseJson } from '../../registry/decode/json-text.ts'
import type { DuplicateKeys } from '../../registry/request.ts'
import { goQuote } from '../../schema/go-text.ts'

/** Larger bodies are refused. */
export const LARGEST_BODY = 3 * 1024 * 1024

export const tooLarge = (): StatusError =>
  new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${LARGEST_BODY}`)

export interface ParsedBody {
  readonly value: unknown
  /** Undefined if no key is there twice. */
  readonly duplicateKeys?: DuplicateKeys
}

/** How a refusal words what is wrong with a body, which depends on what it was to be. */
export interface BodyPurpose {
  readonly json: (why: string) => string
  readonly yaml: (why: string) => string
}

/** For a whole object of this kind. */
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

const LONGEST_SUMMARY = 30

function summarize(text: string): string {
  if (text === '') return '<empty>'
  // Cut by bytes, as Go does; no more of them than are needed are looked at.
  const bytes = Buffer.from(text.slice(0, LONGEST_SUMMARY + 1))
  const start = bytes.subarray(0, LONGEST_SUMMARY)
  const shown = start.toString(text.startsWith('{') ? 'utf8' : 'hex')
  return bytes.length > LONGEST_SUMMARY ? `${shown} ...` : shown
}

/** Escapes that only JSON has. */
const JSON_ESCAPE = /\\(?:\/|u[dD][89a-fA-F])/
/** Characters that JSON lets pass as they are, and YAML does not or takes for the ends of lines. */
// eslint-disable-next-line no-control-regex -- it is these that are looked for
const SPECIAL = /[\x7f-\x9f\u2028\u2029\ufffe\uffff]/
/** A key that is longer, from quote to colon, is none in YAML. Of those that come near, the reader of YAML decides. */
const LONGEST_SURE_KEY = 1000

/** Most that is sent as YAML is JSON, and that is YAML but for a little. */
function isSurelyBoth(text: string): boolean {
  return /^\s*[{[]/.test(text) && !JSON_ESCAPE.test(text) && !SPECIAL.test(text) && !hasLongKey(text)
}

/** True of some texts that have none, too. */
function hasLongKey(text: string): boolean {
  for (let colon = text.indexOf(':'); colon >= 0; colon = text.indexOf(':', colon + 1)) {
    let end = colon - 1
    while (end > 0 && text.charCodeAt(end) <= SPACE) end--
    if (text.charCodeAt(end) === QUOTE && colon - text.lastIndexOf('"', end - 1) > LONGEST_SURE_KEY) return true
  }
  return false
}
const SPACE = 0x20
const QUOTE = 0x22

/** A body in JSON or YAML. Throws a 400 with the real server's words. */
export async function parseBody(text: string, isYaml: boolean, purpose: BodyPurpose): Promise<ParsedBody> {
  if (isYaml && !isSurelyBoth(text)) return parseYaml(text, purpose)
  try {
    const { value, duplicates } = parseJson(text)
    if (duplicates.length === 0) return { value }
    // As which of the two it was sent decides what is said of a key that is there twice.
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
  const { readYaml } = await import('../yaml/read-yaml.ts')
  try {
    return readYaml(text)
  } catch (error) {
    throw badRequest(purpose.yaml(error instanceof Error ? error.message : String(error)))
  }
}
