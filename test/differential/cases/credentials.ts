/** Tokens of service accounts, and requests for certificates. */
import type { Case, CaseGroup, JsonObject, RequestStep } from '../case.ts'
import { pod, secret } from '../objects.ts'
import { APPLY_PATCH, core, create, get, MERGE_PATCH, patch, remove, update } from '../steps.ts'

const one = (name: string, ...steps: Case['steps']): Case => ({ name: `credentials ${name}`, steps, hasPods: true })
const TOKEN = `${core('serviceaccounts', 'default')}/token`
const REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews'

/** Orders a token that is bound to an object. Of the response, everything but the token is compared. */
const order = (reference: JsonObject, extra: Partial<RequestStep> = {}): RequestStep =>
  create(
    TOKEN,
    { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { boundObjectRef: reference } },
    { ignore: ['status.token', 'spec.audiences', 'metadata.managedFields'], save: { token: 'status.token' }, ...extra },
  )
const to = (kind: string, name: string, uid?: string): JsonObject => ({
  apiVersion: 'v1',
  kind,
  name,
  ...(uid !== undefined && { uid }),
})
const review: RequestStep = create(
  REVIEWS,
  { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: '{token}' } },
  { pick: ['status.authenticated', 'status.user.username', 'status.user.groups'] },
)
/** No node has this label, so the pod stays pending. */
const pending = (spec: JsonObject = {}): JsonObject => pod('p', { nodeSelector: { none: 'none' }, ...spec })

const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const CSR = `${CSRS}/{ns}`
const approval = `${CSR}/approval`
const REQUEST = [
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIS01IRUNBUUF3RHpFTk1Bc0dBMVVFQXd3RWFtRnVaVEJaTUJN',
  'R0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSApBMElBQklFa0pNNldYejdsbDJ6bVFIa0w5Q3J3TVN4OUVqSUNxK05XdlhveEV1aUps',
  'NjQzanMybEQzU050S0xCCkF5WkJpNWNRWUxHM2wxVzJxaTRRb1R2dHYwT2dBREFLQmdncWhrak9QUVFEQWdOSkFEQkdBaUVBNnNx',
  'OVU3b20KaGZJU05hRlNCTHcrME1MbWJ4UStxNGN5QjJzVjh2S0FlZUVDSVFEbzF4WU5tS3VDcE4rby92SGo3eVlnNTVNUgpDaG1W',
  'SW5QUjhWeXVFMHEzOEE9PQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K',
].join('')
const request = (more: JsonObject = {}): JsonObject => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name: '{ns}' },
  spec: { request: REQUEST, signerName: 'example.com/test', usages: ['client auth'] },
  ...more,
})
const condition = (type: string, more: JsonObject = {}): JsonObject => ({ type, status: 'True', ...more })
const decided = (...conditions: readonly JsonObject[]): JsonObject =>
  request({ status: { conditions: [...conditions] } })
const STATUS = { pick: ['status', 'spec.signerName', 'message', 'reason'] }

export const credentialCases: CaseGroup = {
  name: 'credentials',
  cases: [
    one(
      'of a pod end with it',
      create(core('pods'), pending(), { save: { uid: 'metadata.uid' }, pick: ['kind'] }),
      order(to('Pod', 'p', '{uid}')),
      review,
      // The real server remembers a reviewed token for some seconds.
      order(to('Pod', 'p', '{uid}')),
      remove(`${core('pods', 'p')}?gracePeriodSeconds=0`, undefined, { pick: ['kind'] }),
      review,
      create(core('pods'), pending(), { pick: ['kind'] }),
      review,
    ),
    one(
      'of a secret end with it',
      create(core('secrets'), secret('s')),
      order(to('Secret', 's')),
      review,
      order(to('Secret', 's')),
      remove(core('secrets', 's')),
      review,
    ),
    one(
      'are bound only to what exists',
      order(to('Pod', 'none'), { status: 404 }),
      order(to('Secret', 'none'), { status: 404 }),
      order(to('Node', 'none'), { status: 404 }),
      order(to('ConfigMap', 'none'), { status: 400 }),
      order({ kind: 'Pod', name: 'none' }, { status: 404 }),
      order({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'none' }, { status: 400 }),
      create(core('secrets'), secret('s')),
      order(to('Secret', 's', 'x'), { status: 409 }),
    ),
    one(
      'are bound only to pods of the account',
      create(core('serviceaccounts'), { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'other' } }),
      create(core('pods'), pending({ serviceAccountName: 'other' }), { pick: ['kind'] }),
      order(to('Pod', 'p'), { status: 400 }),
    ),
    one(
      'are ordered for the account of the path',
      create(TOKEN, { metadata: { name: 'other' }, spec: {} }, { status: 422 }),
      create(TOKEN, { metadata: { namespace: 'other' }, spec: {} }, { status: 400 }),
      create(TOKEN, { metadata: { uid: 'x' }, spec: {} }, { status: 409 }),
      create(TOKEN, { spec: { expirationSeconds: 5 } }, { status: 422 }),
    ),
    one(
      'are approved',
      create(CSRS, request(), STATUS),
      update(approval, decided(condition('Approved', { reason: 'Tested', message: 'fine' })), STATUS),
      get(CSR, STATUS),
      update(approval, decided(condition('Approved', { reason: 'Again' })), STATUS),
      update(approval, decided(), { ...STATUS, status: 422 }),
      remove(CSR),
    ),
    one(
      'are denied by a patch',
      create(CSRS, request(), STATUS),
      patch(MERGE_PATCH, approval, { status: { conditions: [condition('Denied', { reason: 'Tested' })] } }, STATUS),
      patch(MERGE_PATCH, approval, { status: { certificate: 'YQ==' } }, STATUS),
      remove(CSR),
    ),
    one(
      'are approved by an apply',
      create(CSRS, request(), STATUS),
      patch(APPLY_PATCH, `${approval}?fieldManager=a`, decided(condition('Approved', { reason: 'Tested' })), STATUS),
      remove(CSR),
    ),
    one(
      'are decided only by an approval',
      create(CSRS, decided(condition('Approved')), STATUS),
      update(CSR, decided(condition('Approved')), STATUS),
      update(`${CSR}/status`, decided(condition('Approved')), { ...STATUS, status: 422 }),
      update(`${CSR}/status`, decided(condition('Failed', { reason: 'Tested' })), STATUS),
      update(approval, decided(condition('Failed'), condition('Denied')), STATUS),
      update(`${CSR}/status`, decided(condition('Failed'), condition('Denied', { reason: 'Changed' })), STATUS),
      remove(CSR),
    ),
    one(
      'ask always for the same',
      create(CSRS, request(), STATUS),
      patch(MERGE_PATCH, CSR, { spec: { signerName: 'example.com/other' } }, STATUS),
      remove(CSR),
    ),
  ],
}
