import { describe, expect, test } from 'vitest'
import { goNetError } from './go-net-errors.ts'

describe('goNetError', () => {
  const unverified = 'tls: failed to verify certificate: x509: '
  test.each([
    [{ code: 'ECONNREFUSED' }, 'dial tcp [::1]:9443: connect: connection refused'],
    [{ code: 'ENOTFOUND' }, 'dial tcp: lookup ::1: no such host'],
    [{ code: 'ECONNRESET', message: 'socket hang up' }, 'EOF'],
    [{ code: 'ECONNRESET', message: 'read ECONNRESET' }, 'read: connection reset by peer'],
    [{ code: 'CERT_HAS_EXPIRED' }, `${unverified}certificate has expired or is not yet valid`],
    [
      { code: 'ERR_TLS_CERT_ALTNAME_INVALID', cert: { subjectaltname: 'DNS:a.dev, IP Address:10.0.0.1, DNS:b.dev' } },
      `${unverified}certificate is valid for a.dev, b.dev, not web.dev`,
    ],
    [
      { code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
      `${unverified}certificate is not valid for any names, but wanted to match web.dev`,
    ],
    [{ code: 'EODD', message: 'as it is' }, 'as it is'],
  ])('the failure %j has the message of Go', (failure, message) => {
    expect(goNetError(Object.assign(new Error('other'), failure), { host: '::1', port: 9443 }, 'web.dev').message).toBe(
      message,
    )
  })
})
