import { execFileSync, spawnSync } from 'node:child_process'
import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request as httpsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import type { Random } from '@tenure/kube'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import { describe, expect, test } from 'vitest'
import { createAuthority, loadAuthority } from './authority.ts'
import { isFor, joinBundle, splitBundle, validityOf } from './pem.ts'
import { encodeName, signCertificate } from './x509.ts'

const DAY = 86_400_000
const hasOpenssl = spawnSync('openssl', ['version']).status === 0
if (!hasOpenssl) process.stdout.write('openssl is not installed: its strict verification is left out\n')

const edge = (octet: number): Random => ({ fraction: () => 0, bytes: (length) => new Uint8Array(length).fill(octet) })

const fields = (publicKey: Uint8Array) => ({
  serial: Uint8Array.of(1),
  issuer: encodeName({ commonName: 'rsa' }),
  subject: encodeName({ commonName: 'rsa' }),
  notBefore: 0,
  notAfter: DAY,
  publicKey,
  extensions: [],
})

describe('an authority', () => {
  test('an authority is a self-signed CA with path length 0', () => {
    const clock = new VirtualClock()
    const authority = createAuthority({ commonName: 'test ca', clock, random: seededRandom() })
    const certificate = new X509Certificate(authority.certificate)
    expect(certificate.ca).toBe(true)
    expect(certificate.verify(certificate.publicKey)).toBe(true)
    expect(certificate.checkIssued(certificate)).toBe(true)
    expect(certificate.subject).toBe('CN=test ca')
    expect(certificate.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' })
    expect(authority.notBefore).toBe(clock.now() - 5 * 60_000)
    expect(authority.notAfter).toBe(clock.now() + 3650 * DAY)
    expect(authority.key).toMatch(/^-----BEGIN PRIVATE KEY-----/)
  })

  test('an authority issues a server certificate for names and addresses', () => {
    const authority = createAuthority({ commonName: 'test ca' })
    const issued = authority.issue({
      commonName: 'web',
      usage: 'server',
      dnsNames: ['Web.Default.SVC', '*.example.dev', 'localhost'],
      ipAddresses: ['127.0.0.1', '::1', '2001:db8::8:800:200c:417a', '::ffff:10.1.2.3'],
    })
    const certificate = new X509Certificate(issued.certificate)
    const ca = new X509Certificate(authority.certificate)
    expect(certificate.verify(ca.publicKey)).toBe(true)
    expect(certificate.checkIssued(ca)).toBe(true)
    expect(certificate.ca).toBe(false)
    expect(certificate.checkHost('web.default.svc')).toBe('web.default.svc')
    expect(certificate.checkHost('a.example.dev')).toBe('*.example.dev')
    expect(certificate.checkHost('a.b.example.dev')).toBeUndefined()
    for (const address of ['127.0.0.1', '::1', '2001:db8::8:800:200c:417a', '10.1.2.3']) {
      expect(certificate.checkIP(address)).toBe(address)
    }
    expect(certificate.checkIP('127.0.0.2')).toBeUndefined()
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
    const held = { dnsNames: ['WEB.default.svc', '*.example.dev'], ipAddresses: ['0:0::1', '::ffff:10.1.2.3'] }
    expect(isFor(issued.certificate, held)).toBe(true)
    expect(isFor(issued.certificate, { ...held, dnsNames: ['a.example.dev'] })).toBe(false)
    expect(isFor(issued.certificate, { ...held, ipAddresses: ['::2'] })).toBe(false)
    expect(isFor(authority.certificate, held)).toBe(false)
    expect(validityOf(issued.certificate).notAfter - validityOf(issued.certificate).notBefore).toBe(
      90 * DAY + 5 * 60_000,
    )
  })

  test('an authority issues a client certificate that names a Kubernetes user and groups', () => {
    const authority = createAuthority({ commonName: 'test ca' })
    const issued = authority.issue({
      commonName: 'system:node:zoë',
      organizations: ['system:nodes', 'system:masters'],
      usage: ['server', 'client'],
    })
    const certificate = new X509Certificate(issued.certificate)
    expect(certificate.subject).toBe('O=system:nodes\nO=system:masters\nCN=system:node:zoë')
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'])
    expect(certificate.subjectAltName).toBeUndefined()
  })

  test('every certificate has a positive serial of at least 64 random bits', () => {
    for (const random of [seededRandom(1), seededRandom(2), edge(0), edge(255)]) {
      const authority = createAuthority({ commonName: 'test ca', random })
      const serial = BigInt(`0x${new X509Certificate(authority.certificate).serialNumber}`)
      expect(serial).toBeGreaterThan(2n ** 64n)
      expect(serial).toBeLessThan(2n ** 127n)
    }
  })

  test('years from 2050 on are written as GeneralizedTime', () => {
    const clock = new VirtualClock(Date.UTC(2049, 11, 31, 23, 59, 59))
    const authority = createAuthority({ commonName: 'late ca', validFor: 2000, clock })
    const certificate = new X509Certificate(authority.certificate)
    expect(certificate.validTo).toBe('Jan  1 00:00:01 2050 GMT')
    expect(certificate.validFrom).toBe('Dec 31 23:54:59 2049 GMT')
    // UTCTime is tag 0x17 with 13 digits, GeneralizedTime 0x18 with 15.
    expect(certificate.raw.includes(Buffer.from('\x17\x0d491231235459Z'))).toBe(true)
    expect(certificate.raw.includes(Buffer.from('\x18\x0f20500101000001Z'))).toBe(true)
  })

  test('a certificate never outlives its authority, and an expired authority issues none', async () => {
    const clock = new VirtualClock()
    const authority = createAuthority({ commonName: 'test ca', validFor: DAY, clock })
    const issued = authority.issue({ commonName: 'web', usage: 'server', validFor: 90 * DAY })
    expect(validityOf(issued.certificate).notAfter).toBe(authority.notAfter)
    expect(() => authority.issue({ commonName: 'web', usage: 'server', validFor: 0 })).toThrow('set validFor above 0')
    await clock.advance(DAY)
    expect(() => authority.issue({ commonName: 'web', usage: 'server' })).toThrow('expired on 2026-01-02')
  })

  test('an authority can be stored and loaded', () => {
    const first = createAuthority({ commonName: 'test ca', organizations: ['Ünïcode'] })
    const second = loadAuthority(first.certificate, first.key)
    expect({ certificate: second.certificate, key: second.key, notAfter: second.notAfter }).toEqual({
      certificate: first.certificate,
      key: first.key,
      notAfter: first.notAfter,
    })
    const issued = new X509Certificate(second.issue({ commonName: 'web', usage: 'server' }).certificate)
    expect(issued.checkIssued(new X509Certificate(first.certificate))).toBe(true)
    expect(issued.verify(new X509Certificate(first.certificate).publicKey)).toBe(true)
  })

  test('the error says why an authority cannot be loaded', () => {
    const one = createAuthority({ commonName: 'one' })
    const two = createAuthority({ commonName: 'two' })
    const leaf = one.issue({ commonName: 'web', usage: 'server' })
    expect(() => loadAuthority('nonsense', one.key)).toThrow('PEM cannot be parsed')
    expect(() => loadAuthority(one.certificate, 'nonsense')).toThrow('PEM cannot be parsed')
    expect(() => loadAuthority(one.certificate, two.key)).toThrow('does not belong to the certificate')
    expect(() => loadAuthority(leaf.certificate, leaf.key)).toThrow('not a CA certificate')
  })

  test('names that no client can match are rejected', () => {
    const authority = createAuthority({ commonName: 'test ca' })
    const issue = (names: { dnsNames?: string[]; ipAddresses?: string[] }) => () =>
      authority.issue({ commonName: 'web', usage: 'server', ...names })
    for (const name of ['', 'a b', 'zoë.dev', '-a', 'a..b', '*', 'a.*.b', '10.0.0.1', '::1', 'x'.repeat(254)]) {
      expect(issue({ dnsNames: [name] })).toThrow('not a valid DNS name')
    }
    for (const address of ['', 'localhost', '1.2.3', '256.1.1.1', 'fe80::1%eth0']) {
      expect(issue({ ipAddresses: [address] })).toThrow('not a valid IP address')
    }
  })

  test('a foreign RSA authority can sign, and unsupported key types are rejected', () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const spki = rsa.publicKey.export({ type: 'spki', format: 'der' })
    const certificate = new X509Certificate(signCertificate(fields(spki), rsa.privateKey))
    expect(certificate.verify(rsa.publicKey)).toBe(true)
    const edwards = generateKeyPairSync('ed25519')
    expect(() => signCertificate(fields(spki), edwards.privateKey)).toThrow('EC or RSA key')
  })

  test('a real handshake trusts the authority for its server and clients only', async () => {
    const authority = createAuthority({ commonName: 'test ca' })
    const stranger = createAuthority({ commonName: 'test ca' })
    const server = authority.issue({
      commonName: 'web',
      usage: 'server',
      dnsNames: ['localhost'],
      ipAddresses: ['::1'],
    })
    const client = authority.issue({ commonName: 'jane', organizations: ['devs'], usage: 'client' })
    const tls = createServer(
      { cert: server.certificate, key: server.key, ca: authority.certificate, requestCert: true },
      (request, response) => {
        const socket = request.socket as TLSSocket
        const subject = socket.getPeerCertificate().subject
        response.setHeader('connection', 'close').end(`${String(subject.CN)}/${String(subject.O)}`)
      },
    )
    await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve))
    const { port } = tls.address() as AddressInfo
    const call = (ca: string, servername: string) =>
      new Promise<string>((resolve, reject) => {
        const options = {
          host: '127.0.0.1',
          port,
          servername,
          ca,
          cert: client.certificate,
          key: client.key,
          agent: false,
        }
        httpsRequest({ ...options, rejectUnauthorized: true }, (response) => {
          let body = ''
          response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
          response.on('end', () => resolve(body))
        })
          .on('error', reject)
          .end()
      })
    try {
      await expect(call(authority.certificate, 'localhost')).resolves.toBe('jane/devs')
      await expect(call(authority.certificate, 'elsewhere')).rejects.toThrow("does not match certificate's altnames")
      await expect(call(stranger.certificate, 'localhost')).rejects.toThrow(/certificate|signature/)
      await expect(call(joinBundle([stranger.certificate, authority.certificate]), 'localhost')).resolves.toBe(
        'jane/devs',
      )
    } finally {
      await new Promise((resolve) => tls.close(resolve))
    }
  })

  test.runIf(hasOpenssl)('certificates pass the strict checks of openssl', () => {
    const folder = mkdtempSync(join(tmpdir(), 'certificates-'))
    const write = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text)
      return join(folder, name)
    }
    try {
      const authority = createAuthority({ commonName: 'test ca', organizations: ['Tenure'] })
      const ca = write('ca.pem', authority.certificate)
      for (const [purpose, usage] of [
        ['sslserver', 'server'],
        ['sslclient', 'client'],
      ] as const) {
        const issued = authority.issue({ commonName: 'web', usage, dnsNames: ['web.dev'], ipAddresses: ['::1'] })
        const leaf = write('leaf.pem', issued.certificate)
        const strict = ['verify', '-x509_strict', '-check_ss_sig', '-purpose', purpose, '-CAfile', ca, leaf]
        expect(execFileSync('openssl', strict, { encoding: 'utf8' })).toContain(': OK')
        const crossed = purpose === 'sslserver' ? 'sslclient' : 'sslserver'
        expect(spawnSync('openssl', ['verify', '-purpose', crossed, '-CAfile', ca, leaf]).status).not.toBe(0)
        const key = execFileSync('openssl', ['pkey', '-noout', '-check', '-in', write('key.pem', issued.key)], {
          encoding: 'utf8',
        })
        expect(key).toContain('valid')
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('a bundle', () => {
  test('a bundle holds each certificate once and drops the text between them', () => {
    const one = createAuthority({ commonName: 'one' }).certificate
    const two = createAuthority({ commonName: 'two' }).certificate
    const bundle = joinBundle([one, `# comment\n${two}\n\n${one}`])
    expect(splitBundle(bundle)).toEqual([one, two])
    expect(joinBundle([])).toBe('')
    expect(splitBundle('nonsense')).toEqual([])
  })
})
