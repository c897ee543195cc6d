import { expect, test } from 'vitest'
import { curlCommand } from './curl.ts'

test('a command quotes its body for a shell and reads the token from a variable', () => {
  const url = 'http://localhost:3000/claim'
  const body = { pool: "ada's" }
  expect(curlCommand({ method: 'POST', url, body, isAuthenticated: true })).toBe(
    `curl -X POST -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"pool":"ada'\\''s"}' 'http://localhost:3000/claim'`,
  )
  expect(curlCommand({ method: 'POST', url, isAuthenticated: false })).toBe(`curl -X POST '${url}'`)
})
