import { expect, test } from 'vitest'
import { withoutSecrets } from './without-secrets.ts'

test('values of keys that name a secret are hidden at every depth, and others are kept', () => {
  const document = {
    replicas: 2,
    admin_password: 'hunter2',
    settings: { requirepass: 'hunter3', maxclients: 5 },
    users: [{ name: 'app', password: 'hunter4' }, [{ api_token: 'hunter5' }], 'plain'],
    note: null,
  }
  expect(withoutSecrets(document)).toEqual({
    replicas: 2,
    admin_password: '<hidden>',
    settings: { requirepass: '<hidden>', maxclients: 5 },
    users: [{ name: 'app', password: '<hidden>' }, [{ api_token: '<hidden>' }], 'plain'],
    note: null,
  })
})
