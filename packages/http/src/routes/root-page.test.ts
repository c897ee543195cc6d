import { afterEach, expect, test } from 'vitest'
import { call, closeAll, serving } from '../server/server.testing.ts'
import { json, text } from './response.ts'
import { withRootPage } from './root-page.ts'
import { route } from './route.ts'

afterEach(closeAll)

const accept = 'text/html,application/xhtml+xml,*/*;q=0.8'
const page = () => text(200, '<p>', 'text/html')
const root = route({
  method: 'GET',
  path: '/',
  summary: 'x',
  responses: {},
  handle: () => json(200, { resources: 0 }),
})

test('a browser gets the page, and a program the JSON of the operator', async () => {
  const { listening } = await serving(withRootPage([root], page, 'Tenure'))
  expect(await call(listening.url, { headers: { accept } })).toMatchObject({ status: 200, text: '<p>' })
  expect(await call(listening.url)).toMatchObject({ status: 200, json: { resources: 0 } })
})

test('without an operator that answers at the root, a program gets the name of the server', async () => {
  const { listening } = await serving(withRootPage([], page, 'Tenure'))
  expect(await call(listening.url)).toMatchObject({ json: { name: 'Tenure', openApi: '/openapi.json' } })
})

test('without a page the routes stay as they are', async () => {
  const { listening } = await serving(withRootPage([root], undefined, 'Tenure'))
  expect(await call(listening.url, { headers: { accept } })).toMatchObject({ json: { resources: 0 } })
})
