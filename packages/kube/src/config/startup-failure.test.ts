import { expect, test } from 'vitest'
import { ApiError, ConnectionError } from '../errors/errors.ts'
import { deniedAccessIn } from '../errors/forbidden.ts'
import { apiErrorFrom } from '../errors/status-error.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { connectTo } from './connection-config.ts'
import { explainStartupFailure } from './startup-failure.ts'

const config = connectTo({ server: 'https://api.example:6443', token: 't', origin: 'context "dev" of /k' })
const forbidden = (message: string): ApiError =>
  new ApiError(message, { status: 403, reason: 'Forbidden', deniedAccess: deniedAccessIn(message) })
const unauthorized = new ApiError('Unauthorized', { status: 401, reason: 'Unauthorized' })

test('the message for a 401 names the credentials and asks to log in again', () => {
  expect(explainStartupFailure(unauthorized, config)).toBe(
    'The API server https://api.example:6443 rejected the credentials of context "dev" of /k (401): the token has expired or is wrong; log in again or set a new token.',
  )
  expect(explainStartupFailure(unauthorized, { ...config, credential: { kind: 'token-file', path: '/t' } })).toMatch(
    /token in \/t has expired/,
  )
  expect(explainStartupFailure(unauthorized, { ...config, credential: { kind: 'none' } })).toMatch(
    /has none; add a user/,
  )
})

test('the message for a 403 names the user and the access, and says how to grant it', () => {
  const namespaced =
    'deployments.apps is forbidden: User "alice" cannot list resource "deployments" in API group "apps" in the namespace "web"'
  expect(explainStartupFailure(forbidden(namespaced), config)).toBe(
    'User "alice" may not list deployments.apps in namespace web on the API server https://api.example:6443 (context "dev" of /k) (403): grant it with a Role and a RoleBinding there.',
  )
  const cluster =
    'nodes is forbidden: User "system:serviceaccount:a:b" cannot watch resource "nodes" in API group "" at the cluster scope'
  expect(explainStartupFailure(forbidden(cluster), config)).toMatch(
    /^User "system:serviceaccount:a:b" may not watch nodes in the whole cluster .*ClusterRoleBinding\.$/,
  )
  expect(explainStartupFailure(forbidden('forbidden: User "x" cannot get path "/apis"'), config)).toMatch(
    /may not get the path \/apis .*nonResourceURLs/,
  )
  expect(explainStartupFailure(forbidden('quota exceeded'), config)).toMatch(/not allowed .*\(403\): quota exceeded$/)
})

test('the message for an anonymous 403 asks for credentials, not for more permissions', () => {
  const anonymous = 'nodes is forbidden: User "system:anonymous" cannot list resource "nodes" in API group ""'
  expect(explainStartupFailure(forbidden(anonymous), { ...config, credential: { kind: 'none' } })).toBe(
    'The API server https://api.example:6443 does not know the user (403), because context "dev" of /k has no credentials: add a user with credentials to the kubeconfig.',
  )
})

test('the message for plain HTTP to a TLS port asks for https', () => {
  const body = 'Client sent an HTTP request to an HTTPS server.'
  const error = apiErrorFrom({ method: 'GET', path: '/api' }, { status: 400, headers: {} }, body, new VirtualClock())
  expect(explainStartupFailure(error, { ...config, server: 'http://api.example:6443' })).toBe(
    'The API server http://api.example:6443 (context "dev" of /k) accepts only TLS: write its address with https.',
  )
})

test('other errors keep their message', () => {
  expect(explainStartupFailure(new ConnectionError('TENURE_CONNECTION_REFUSED', 'Nothing listens.'), config)).toBe(
    'Nothing listens.',
  )
  expect(explainStartupFailure(new ApiError('etcd is away', { status: 500, reason: 'InternalError' }), config)).toMatch(
    /answered 500: etcd is away/,
  )
})
