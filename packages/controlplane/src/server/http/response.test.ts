import { readYaml, writeYaml, type YamlValue } from '@tenure/yaml'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { unstored } from '../../registry/decode/derived-object.ts'
import type { StoredObject } from '../../storage/types.ts'
import { ListBody } from '../encoding/list-body.ts'
import { asYaml, reply } from './response.ts'

const item = (value: unknown): StoredObject => unstored('x', { value } as unknown as StoredObject['object'])
const text = fc.string({ unit: fc.constantFrom('a', ' ', '\n', '-', ':', '#', '"', 'é', '1') })
const value = fc.oneof(text, fc.array(text), fc.dictionary(text, fc.oneof(text, fc.constant([]), fc.integer())))

test('a list that is converted item by item is the YAML of the whole list', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(value, { maxLength: 5 }), async (values) => {
      const head = '{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":['
      const list = new ListBody(head, values.map(item), ({ json }) => json.slice(1), ']}\n')
      const { body, headers } = await asYaml(reply(200, list))
      expect(body).toBe(writeYaml(readYaml(list.text()).value as YamlValue))
      expect(headers['content-type']).toBe('application/yaml')
    }),
  )
})

test('an item that YAML cannot hold makes a failure of the whole list', async () => {
  const list = new ListBody('{"items":[', [item('a'), item('\u007F')], ({ json }) => json.slice(1), ']}')
  expect(await asYaml(reply(200, list))).toMatchObject({ status: 500, body: expect.stringContaining('control char') })
})
