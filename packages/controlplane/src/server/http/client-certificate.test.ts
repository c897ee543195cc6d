import { readFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { request } from 'node:https'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startControlPlane } from '../../control-plane.ts'
import type { ControlPlane } from '../../control-plane.ts'

/** Of the administrator, signed by another authority with the name of the control plane's, without its key identifier. */
const pem = (name: string): string => readFileSync(new URL(`testdata/${name}`, import.meta.url), 'utf8')
const foreign = { cert: pem('foreign.pem'), key: pem('foreign.key'), rejectUnauthorized: false }
const PATH = '/api/v1/namespaces'

let plane: ControlPlane
beforeAll(async () => {
  plane = await startControlPlane({ port: 0, controllers: false })
})
afterAll(() => plane.stop())

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'a client certificate of an authority with the same name is refused with 401 over %s',
  async (maxVersion) => {
    const byHttp1 = await new Promise((resolve, reject) => {
      const options = { ...foreign, maxVersion, agent: false as const }
      request(`${plane.url}${PATH}`, options, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end()
    })
    expect(byHttp1).toBe(401)
    const session = connect(plane.url ?? '', { ...foreign, maxVersion })
    try {
      const byHttp2 = await new Promise((resolve, reject) => {
        session.on('error', reject)
        const stream = session.request({ ':path': PATH })
        stream.on('error', reject)
        stream.on('response', (headers) => resolve(headers[':status']))
        stream.resume()
      })
      expect(byHttp2).toBe(401)
    } finally {
      session.destroy()
    }
  },
)
