import { expect, test } from 'vitest'
import { ConnectionError } from '../errors/errors.ts'
import { connectTo } from './connection-config.ts'
import { connectionFailure } from './connection-failure.ts'
import { SecretValue } from './secret-value.ts'

const config = connectTo({ server: 'https://api.example:6443', origin: 'context "dev" of /k' })
const withCode = (code: string, message = 'no'): Error => Object.assign(new Error(message), { code })

test.each([
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'TENURE_TLS_CLIENT_CERTIFICATE', 'retry'],
  ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', 'TENURE_TLS_CLIENT_CERTIFICATE', 'retry'],
  ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'TENURE_TLS_CLIENT_CERTIFICATE', 'retry'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'TENURE_TLS_NOT_SPOKEN', 'retry'],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'TENURE_TLS_FAILED', 'retry'],
  ['CERT_NOT_YET_VALID', 'TENURE_TLS_EXPIRED', 'retry'],
  ['EHOSTUNREACH', 'TENURE_CONNECTION_UNREACHABLE', 'retry'],
  ['EAI_AGAIN', 'TENURE_CONNECTION_UNKNOWN_HOST', 'retry'],
  ['ECONNRESET', 'TENURE_CONNECTION_BROKEN', 'retry'],
  ['HPE_INVALID_CONSTANT', 'TENURE_CONNECTION_BROKEN', 'retry'],
  ['UND_ERR_DESTROYED', 'TENURE_TRANSPORT_CLOSED', 'terminal'],
  ['UND_ERR_ABORTED', 'TENURE_CONNECTION_BROKEN', 'retry'],
])('%s becomes %s with fate %s', (code, ours, fate) => {
  const cause = withCode(code)
  const error = connectionFailure(cause, config, 'GET /x')
  expect(error).toMatchObject({ code: ours, fate, cause })
  expect(error.message).toContain('https://api.example:6443 (context "dev" of /k)')
  expect(error.message).toMatch(/\.$/)
})

test('an aborted tunnel is reported as a failure of the proxy', () => {
  const error = connectionFailure(
    withCode('UND_ERR_ABORTED'),
    { ...config, proxyUrl: new SecretValue('http://p') },
    'GET /x',
  )
  expect(error).toMatchObject({ code: 'TENURE_CONNECTION_PROXY' })
})

test('a bug stays a bug, and a TenureError is not wrapped', () => {
  const bug = new TypeError('x is not a function')
  expect(connectionFailure(bug, config, 'GET /x')).toBe(bug)
  const ours = new ConnectionError('TENURE_KUBECONFIG_EXEC', 'It failed.')
  expect(connectionFailure(ours, config, 'GET /x')).toBe(ours)
})
