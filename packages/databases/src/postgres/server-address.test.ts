import { defaultValues } from '@tenure/runtime/configuration'
import { expect, test } from 'vitest'
import { databasesConfig } from '../config.ts'
import { serverAddress } from './server-address.ts'

const defaults = defaultValues(databasesConfig)

test.each([undefined, ''])('a start with the password %j names DB_PASSWORD', (dbPassword) => {
  expect(() => serverAddress({ ...defaults, dbPassword })).toThrow(
    expect.objectContaining({
      code: 'TENURE_DATABASE_PASSWORD_MISSING',
      message: expect.stringContaining('DB_PASSWORD') as string,
    }),
  )
})

test('a Unix socket and the server of tenure start need no password', () => {
  for (const dbHost of ['/var/run/postgresql', 'embedded'])
    expect(serverAddress({ ...defaults, dbHost })).toMatchObject({ host: dbHost, password: undefined })
})

test('the address has the settings of the server', () => {
  const address = serverAddress({ ...defaults, dbHost: 'db', dbPassword: 'pw' })
  expect(address).toMatchObject({ host: 'db', port: 5432, user: 'nest', database: 'nest', sslMode: 'disable' })
  expect(address.password?.reveal()).toBe('pw')
})
