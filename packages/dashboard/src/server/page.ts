import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { bytes, type HttpRequest, type HttpResponse, type Route, route } from '@tenure/http'
import { z } from 'zod'
import { gzipSync } from 'node:zlib'

const DIST = new URL('../../dist/', import.meta.url)

/** The page loads nothing from elsewhere and runs no inline code. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const SECURITY_HEADERS = {
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  vary: 'accept, accept-encoding',
}

interface Asset {
  readonly plain: Uint8Array
  readonly gzip: Uint8Array
  readonly contentType: string
  readonly etag: string
}

const FILES = { 'index.html': 'text/html', 'app.js': 'text/javascript', 'app.css': 'text/css' } as const
type FileName = keyof typeof FILES

const assets = new Map<FileName, Asset>()

/** Read and compressed when a browser asks for it first. */
function asset(name: FileName): Asset {
  const known = assets.get(name)
  if (known) return known
  const plain = readFileSync(new URL(name, DIST))
  const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`
  const read = { plain, gzip: gzipSync(plain), contentType: `${FILES[name]}; charset=utf-8`, etag }
  assets.set(name, read)
  return read
}

function send({ headers }: Pick<HttpRequest, 'headers'>, name: FileName): HttpResponse {
  const { contentType, etag, gzip, plain } = asset(name)
  // Browsers ask again each time, so an upgrade shows at once.
  const common = { ...SECURITY_HEADERS, etag, 'cache-control': 'no-cache' }
  if (headers['if-none-match'] === etag) return { ...bytes(304, new Uint8Array(), contentType), headers: common }
  const isCompressed = /\bgzip\b/.test(String(headers['accept-encoding'] ?? ''))
  const response = bytes(200, isCompressed ? gzip : plain, contentType)
  return { ...response, headers: { ...common, ...(isCompressed && { 'content-encoding': 'gzip' }) } }
}

/** The page, for `GET /` of a browser. It holds no data: its requests are authorized. */
export const page = (request: HttpRequest): HttpResponse => send(request, 'index.html')

export function assetRoutes(): readonly Route[] {
  return (['app.js', 'app.css'] as const).map((name) =>
    route({
      method: 'GET',
      path: `/dashboard/${name}`,
      summary: `The dashboard's ${name}`,
      tags: ['dashboard'],
      access: 'public',
      responses: { 200: { description: 'The file', schema: z.string(), contentType: FILES[name] } },
      handle: (request) => send(request, name),
    }),
  )
}
