import { defineOperator } from '@tenure/runtime'
import { expect, test } from 'vitest'
import { configVariables, operatorConfiguration } from './run-operator.ts'

const plain = defineOperator({ name: 'plain', setup: () => ({}) })
const shop = defineOperator({ name: 'shop', configEnvironment: 'SHOP_FILE', setup: () => ({}) })

test('the settings file of an operator is named by CONFIG_FILE and by its own variable', () => {
  expect(operatorConfiguration(plain).configEnvironment).toEqual(['CONFIG_FILE'])
  expect(operatorConfiguration(shop).configEnvironment).toEqual(['CONFIG_FILE', 'SHOP_FILE'])
})

test('a process with several operators accepts the variables of all of them', () => {
  expect(configVariables([plain, shop, { ...plain, configEnvironment: 'SHOP_FILE' }])).toEqual([
    'CONFIG_FILE',
    'SHOP_FILE',
  ])
})
