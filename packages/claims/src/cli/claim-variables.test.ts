import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import type { ClaimGrant } from '../client/index.ts'
import { claimVariables, shellLines } from './claim-variables.ts'

const grant = (data: Readonly<Record<string, string>>): ClaimGrant => ({
  id: 'abc',
  expiresAt: '2026-01-01T00:05:00Z',
  preProvisioned: true,
  data,
})

const namesOf = (...keys: readonly string[]): readonly string[] => {
  const { variables } = claimVariables(grant(Object.fromEntries(keys.map((key) => [key, 'x']))))
  return Object.keys(variables).slice(2)
}

test('the variables are the id, the expiry and the return values in capitals', () => {
  const { variables, conflicts } = claimVariables(grant({ fqdn: 'web.example', 'db-port': '5432' }))
  expect(variables).toEqual({
    CLAIM_ID: 'abc',
    CLAIM_EXPIRES_AT: '2026-01-01T00:05:00Z',
    FQDN: 'web.example',
    DB_PORT: '5432',
  })
  expect(conflicts).toEqual([])
})

test('a return value cannot replace a variable that programs depend on', () => {
  expect(namesOf('path', 'HOME', 'ld_preload', 'node-options', 'claims.token')).toEqual([
    'CLAIM_PATH',
    'CLAIM_HOME',
    'CLAIM_LD_PRELOAD',
    'CLAIM_NODE_OPTIONS',
    'CLAIM_CLAIMS_TOKEN',
  ])
})

test('every key becomes a valid name', () => {
  expect(namesOf('9lives', 'ä b', '')).toEqual(['_9LIVES', '__B', '_'])
})

test('return values of the same name are reported, and the first one counts', () => {
  const { variables, conflicts } = claimVariables(grant({ 'a-b': '1', 'a.b': '2', 'claim.id': '3' }))
  expect(variables).toMatchObject({ A_B: '1', CLAIM_ID: 'abc' })
  expect(conflicts).toEqual([
    'The return value "a.b" is left out: A_B is taken.',
    'The return value "claim.id" is left out: CLAIM_ID is taken.',
  ])
})

test.skipIf(process.platform === 'win32')('a shell reads the lines as they were', () => {
  const value = `it's "$HOME" \`id\` \\ !\nnext; rm -rf x`
  const lines = shellLines({ VALUE: value, PLAIN: 'http://a.b:80/c', EMPTY: '' })
  expect(lines).toContain('PLAIN=http://a.b:80/c')
  const script = `${lines}\nprintf '%s|%s' "$VALUE" "$EMPTY"`
  expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' })).toBe(`${value}|`)
})
