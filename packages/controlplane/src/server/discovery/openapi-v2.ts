import { json } from '../http/response.ts'
import type { ServerResponse } from '../http/response.ts'
import { KUBERNETES_VERSION } from './version.ts'

const TITLE = 'Kubernetes'
const PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'

/**
 * An empty OpenAPI v2 document: all kinds are described in v3. kubectl asks for v2 for kinds that v3 does not have, such
 * as `List`, requires a document, and does not validate kinds that are missing from it.
 */
export function openApiV2(accept: string | undefined): ServerResponse {
  if (!accept?.includes('proto-openapi')) {
    const info = { title: TITLE, version: KUBERNETES_VERSION }
    return json(200, JSON.stringify({ swagger: '2.0', info, paths: {}, definitions: {} }))
  }
  const info = field(1, TITLE) + field(2, KUBERNETES_VERSION)
  return {
    status: 200,
    headers: { 'content-type': PROTOBUF, 'cache-control': 'no-cache, private' },
    // Document: swagger = 1, info = 2, paths = 8, definitions = 9.
    body: field(1, '2.0') + field(2, info) + field(8, '') + field(9, ''),
  }
}

/** A length-delimited field of protobuf. Short ASCII only, so that bytes are characters. */
function field(number: number, content: string): string {
  return String.fromCharCode((number << 3) | 2, content.length) + content
}
