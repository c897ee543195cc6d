import { defineOperator } from '@tenure/runtime'
import { leaderElectionConfig } from '@tenure/runtime/configuration'
import { expect, test } from 'vitest'
import { clusterOperators, operators } from './loaded-operators.ts'
import { clusterOperatorEntries, operatorEntries } from './operators.ts'
import { embeddedOperator, embeddedTable } from './start-settings.ts'

const shop = defineOperator({
  name: 'shop',
  config: {
    ...leaderElectionConfig,
    size: { type: 'integer', default: 1, meaning: 'Size.' },
    region: { type: 'string', clusterOnly: true, default: 'eu', meaning: 'Region.' },
  },
  embedded: { size: 5, region: 'local' },
  setup: () => ({}),
})

test('an operator has its embedded defaults, and no setting that only matters on a cluster', () => {
  const table = embeddedTable([shop])
  expect(table['size']).toMatchObject({ default: 5 })
  expect(table).not.toHaveProperty('region')
  expect(table).not.toHaveProperty('leaderElectionNamespace')
  expect(embeddedOperator(shop, { size: 7 }).settings).toMatchObject({ size: 7, region: 'local' })
  expect(embeddedOperator(shop, {}).settings).toMatchObject({ size: 5, enableLeaderElection: true })
})

test('a setting that all operators share is there once, others must have names of their own', () => {
  const other = defineOperator({ name: 'other', config: leaderElectionConfig, setup: () => ({}) })
  expect(embeddedTable([shop, other])['enableLeaderElection']).toBe(leaderElectionConfig.enableLeaderElection)
  const clash = defineOperator({ name: 'clash', config: { size: shop.config.size }, setup: () => ({}) })
  expect(() => embeddedTable([shop, clash])).toThrow('Two operators have the setting size.')
})

test('a setting of another operator does not replace one that only matters on a cluster', () => {
  const other = defineOperator({
    name: 'other',
    config: { region: { type: 'string', default: 'us', meaning: 'Region.' } },
    setup: () => ({}),
  })
  expect(embeddedTable([shop, other])['region']).toMatchObject({ default: 'us' })
  expect(embeddedOperator(shop, { region: 'us' }).settings).toMatchObject({ region: 'local' })
  expect(embeddedOperator(other, { region: 'us' }).settings).toMatchObject({ region: 'us' })
})

test('the operators of this program fit together', () => {
  expect(Object.keys(embeddedTable(operators))).toContain('prefix')
})

test('the commands of operators have the names of their operators', () => {
  const names = [...operators, ...clusterOperators].map(({ name }) => name)
  expect([...operatorEntries, ...clusterOperatorEntries].map(({ name }) => name)).toEqual(names)
})
