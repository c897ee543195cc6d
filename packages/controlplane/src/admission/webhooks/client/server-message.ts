import { isJsonObject } from '@tenure/kube/model'
import { goQuote } from '../../../schema/go-text.ts'
import type { WebhookResponse } from './caller.ts'

const MESSAGES = new Map([
  [400, 'the server rejected our request for an unknown reason'],
  [401, 'the server has asked for the client to provide credentials'],
  [404, 'the server could not find the requested resource'],
  [405, 'the server does not allow this method on the requested resource'],
  [409, 'the server reported a conflict'],
  [410, 'the requested resource has expired'],
  [422, 'the server rejected our request due to an error in our request'],
  [429, 'the server has received too many requests and has asked us to try again later'],
  [503, 'the server is currently unable to handle the request'],
  [504, 'the server was unable to return a response in the time allotted, but may still be processing the request'],
])

/** Maximum number of characters of a body that are quoted in a message. */
const MAX_TEXT_LENGTH = 2048

/** The message of client-go for an unsuccessful response. */
export function serverMessage({ status, contentType, body }: WebhookResponse): string {
  const message = statusMessage(body)
  if (message !== undefined) return message
  const known = MESSAGES.get(status)
  if (known !== undefined) return known
  const isText = contentType === '' || contentType.startsWith('text/')
  const text = isText ? body.slice(0, MAX_TEXT_LENGTH).trim() : 'unknown'
  if (status === 403 || status === 415) return text
  return status >= 500
    ? `an error on the server (${goQuote(text)}) has prevented the request from succeeding`
    : `the server responded with the status code ${status} but did not return more information`
}

function statusMessage(body: string): string | undefined {
  if (!body.startsWith('{')) return undefined
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return undefined
  }
  if (!isJsonObject(parsed) || parsed['kind'] !== 'Status' || parsed['status'] !== 'Failure') return undefined
  return typeof parsed['message'] === 'string' ? parsed['message'] : undefined
}
