import { expect, test } from 'vitest'
import { validatePolicy } from './network-policy.ts'

const errors = (spec: object): readonly string[] =>
  validatePolicy({ spec }).map(({ field, message }) => `${field}: ${message}`)

test('a peer is either a selector or a network', () => {
  expect(errors({ ingress: [{ from: [{}, { podSelector: {}, namespaceSelector: {} }] }] })).toEqual([
    'spec.ingress[0].from[0]: Required value: must specify a peer',
  ])
  expect(errors({ egress: [{ to: [{ podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }] }] })).toEqual([
    'spec.egress[0].to[0]: Forbidden: may not specify both ipBlock and another peer',
  ])
})

const block = (cidr: string, ...except: readonly string[]): readonly string[] =>
  errors({ ingress: [{ from: [{ ipBlock: { cidr, except } }] }] })
const ports = (...list: readonly object[]): readonly string[] => errors({ ingress: [{ ports: list }] })

test('an exception must be a strict subset of its network', () => {
  expect(block('10.0.0.0/8', '10.1.0.0/16')).toEqual([])
  expect(block('10.0.0.0/8', '10.0.0.0/8', '11.0.0.0/16')).toEqual([
    'spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "10.0.0.0/8": must be a strict subset of `cidr`',
    'spec.ingress[0].from[0].ipBlock.except[1]: Invalid value: "11.0.0.0/16": must be a strict subset of `cidr`',
  ])
  expect(block('10.0.0.1/8')[0]).toContain('must not have bits set beyond the prefix length')
  expect(block('10.0.0.0/08')[0]).toContain('must not have leading 0s in IP or prefix length')
})

test('a port range needs a numeric first port', () => {
  expect(ports({ port: 80, endPort: 90 }, { port: 'web' })).toEqual([])
  expect(ports({ port: 'web', endPort: 90 })[0]).toContain('may not be specified when `port` is non-numeric')
  expect(ports({ endPort: 90 })[0]).toContain('may not be specified when `port` is not specified')
})
