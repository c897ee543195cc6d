import { defineConfiguration } from '@tenure/runtime/configuration'
import { describe, expect, test } from 'vitest'
import { httpConfig, httpServerSettings } from './config.ts'

const UNSET = { auth: 'auto', tlsCertFile: undefined, tlsKeyFile: undefined, maxRequestsPerSecond: undefined } as const
const configuration = defineConfiguration({ program: 'test', summary: 'Tests.', options: httpConfig })

describe('httpServerSettings', () => {
  test('the defaults leave authentication to the address and serve plain HTTP', () => {
    expect(httpServerSettings(UNSET)).toEqual({ setting: 'PORT', hostSetting: 'LISTEN_HOST' })
  })

  test('a rate limit becomes a limit of the server', () => {
    expect(httpServerSettings({ ...UNSET, maxRequestsPerSecond: 20 })).toEqual({
      setting: 'PORT',
      hostSetting: 'LISTEN_HOST',
      limits: { requestsPerSecond: 20 },
    })
  })

  test('a certificate and its key turn on HTTPS', () => {
    expect(httpServerSettings({ ...UNSET, auth: 'token', tlsCertFile: '/c', tlsKeyFile: '/k' })).toEqual({
      setting: 'PORT',
      hostSetting: 'LISTEN_HOST',
      authentication: 'token',
      tls: {
        certificateFile: '/c',
        keyFile: '/k',
        settings: { certificate: 'TLS_CERT_FILE', key: 'TLS_KEY_FILE' },
      },
    })
  })

  test.each([
    { tlsCertFile: '/c', tlsKeyFile: undefined },
    { tlsCertFile: undefined, tlsKeyFile: '/k' },
  ])('a certificate without its key is an error: %j', (files) => {
    expect(() => httpServerSettings({ ...UNSET, ...files })).toThrow(
      expect.objectContaining({ code: 'TENURE_TLS_INCOMPLETE' }),
    )
  })

  test('the names of flags and environment variables are those of the applications operator', () => {
    expect(configuration.rows.map(({ flag, environment }) => [flag, environment])).toEqual([
      ['port', 'PORT'],
      ['host', 'LISTEN_HOST'],
      ['auth', 'AUTH'],
      ['tls-cert-file', 'TLS_CERT_FILE'],
      ['tls-key-file', 'TLS_KEY_FILE'],
      ['max-requests-per-second', 'MAX_REQUESTS_PER_SECOND'],
    ])
  })
})
