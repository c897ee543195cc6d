import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { connect } from 'node:tls'
import { VirtualClock, settle } from '@tenure/kube/testing'
import { createAuthority } from '@tenure/runtime/certificates'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { json } from '../routes/response.ts'
import { route } from '../routes/route.ts'
import { call, closeAll, serving } from './server.testing.ts'
import { checkTlsFiles } from './tls.ts'

const authority = createAuthority({ commonName: 'test' })
const routes = [
  route({ method: 'GET', path: '/', summary: 'x', responses: {}, handle: ({ url }) => json(200, { url }) }),
]
let directory: string

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'tenure-tls-'))
})
afterEach(async () => {
  await closeAll()
  await rm(directory, { recursive: true, force: true })
})

const issue = (commonName: string) => authority.issue({ commonName, usage: 'server', ipAddresses: ['127.0.0.1'] })

/** The subject of the served certificate. */
function servedBy(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', ca: authority.certificate }, () => {
      const { subject } = socket.getPeerCertificate()
      socket.destroy()
      resolve(String(subject.CN))
    })
    socket.on('error', reject)
  })
}

test('TLS is served with the given certificate', async () => {
  const { listening } = await serving(routes, { tls: issue('given') })
  expect(listening.url).toMatch(/^https:/)
  expect(await call(`${listening.url}/`, { ca: authority.certificate })).toMatchObject({ status: 200 })
  await expect(call(`${listening.url}/`)).rejects.toThrow(/certificate/)
})

test('idle connections do not delay the stop', async () => {
  const { listening, server } = await serving(routes, { tls: issue('given') }, new VirtualClock())
  const socket = connect({ port: listening.port, host: '127.0.0.1', ca: authority.certificate })
  await new Promise((resolve) => socket.once('secureConnect', resolve))
  expect(await call(`${listening.url}/`, { ca: authority.certificate })).toMatchObject({ status: 200 })
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await server.stop(30_000)
  await closed
  expect(socket.destroyed).toBe(true)
})

test('new certificate files are used when they match, and the old ones until then', async () => {
  const clock = new VirtualClock()
  const [certificateFile, keyFile] = [path.join(directory, 'tls.crt'), path.join(directory, 'tls.key')]
  const write = async ({ certificate, key }: { readonly certificate: string; readonly key: string }): Promise<void> => {
    await writeFile(certificateFile, certificate)
    await writeFile(keyFile, key)
  }
  await write(issue('first'))
  const { listening, server } = await serving(routes, { tls: { certificateFile, keyFile } }, clock)
  expect(await servedBy(listening.port)).toBe('first')
  const [second, other] = [issue('second'), issue('other')]
  await write({ certificate: second.certificate, key: other.key })
  await clock.advance(10_000)
  // A check has ended when the next one is due.
  while (clock.pending === 0) await settle()
  expect(await servedBy(listening.port)).toBe('first')
  await write(second)
  await clock.advance(10_000)
  while (clock.pending === 0) await settle()
  expect(await servedBy(listening.port)).toBe('second')
  await server.stop(0)
  expect(clock.pending).toBe(0)
})

test('an invalid certificate is an error at startup', async () => {
  const [certificate, key] = [issue('a').certificate, issue('b').key]
  await expect(serving(routes, { tls: { certificate, key } })).rejects.toMatchObject({
    code: 'TENURE_HTTP_CERTIFICATE',
  })
  const missing = { certificateFile: path.join(directory, 'none.crt'), keyFile: path.join(directory, 'none.key') }
  await expect(serving(routes, { tls: missing })).rejects.toMatchObject({
    code: 'TENURE_HTTP_CERTIFICATE',
    message: expect.stringContaining('none.crt cannot be read'),
  })
})

test('wrong TLS files are named with their settings', async () => {
  const [certificateFile, keyFile] = [path.join(directory, 'tls.crt'), path.join(directory, 'tls.key')]
  const settings = { certificate: 'TLS_CERT_FILE', key: 'TLS_KEY_FILE' }
  const problemOf = async (certificate: string, key: string): Promise<string> => {
    await writeFile(certificateFile, certificate)
    await writeFile(keyFile, key)
    return checkTlsFiles({ certificateFile, keyFile, settings }).then(() => 'none', String)
  }
  const { certificate, key } = issue('a')
  expect(await problemOf(certificate, key)).toBe('none')
  expect(await problemOf('x', key)).toContain(`${certificateFile} is not a certificate in PEM; check TLS_CERT_FILE.`)
  expect(await problemOf(certificate, 'x')).toContain('without a passphrase; check TLS_KEY_FILE.')
  expect(await problemOf(certificate, issue('b').key)).toContain(
    `${keyFile} is not the key of ${certificateFile}; check TLS_CERT_FILE and TLS_KEY_FILE.`,
  )
  const none = path.join(directory, 'none')
  await expect(checkTlsFiles({ certificateFile: none, keyFile, settings })).rejects.toThrow(
    `${none} cannot be read (there is no such file); check TLS_CERT_FILE.`,
  )
})
