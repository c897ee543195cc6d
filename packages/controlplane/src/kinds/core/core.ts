import { Buffer } from 'node:buffer'

import type { FieldError } from '../../schema/types.ts'
import { createdAt, listWithMore, nameAndAge, nameOf } from '../common/columns.ts'
import { forbiddenField, invalidEach, invalidValue, notSupported, required, tooLong } from '../common/field-errors.ts'
import { validateAddress } from '../common/ip-validation.ts'
import type { Json } from '../../model/json.ts'
import {
  asJson,
  asJsons,
  asList,
  asNumber,
  asText,
  at,
  filled,
  filledUnset,
  isEqual,
  isJson,
  withField,
  withinField,
  withinItems,
} from '../../model/json.ts'
import type { KindTable } from '../common/kind-table.ts'
import { unchanged } from '../common/labels.ts'
import { validateLimitRange } from './limit-range-validation.ts'
import { configMapKey, dnsLabel, portNumber } from '../common/names.ts'
import { validateNamespaceFinalizers, validateNamespacePhase } from './namespace-validation.ts'
import { adviseOnNode, defaultNode, validateNode, validateNodeChange, withoutConfigSource } from './node-validation.ts'
import { validateQuota, validateQuotaChange } from './quota-validation.ts'

const MOST_DATA = 1024 * 1024
const IMMUTABLE = 'field is immutable when `immutable` is set'
const NAMESPACE_LABEL = 'kubernetes.io/metadata.name'

const size = (value: unknown): number => Object.keys(asJson(value)).length

/** The small kinds of the core group. */
export const CORE: KindTable = {
  configmaps: {
    cells: (object, age) => [nameOf(object), size(object['data']) + size(object['binaryData']), age(createdAt(object))],
    rules: {
      generation: false,
      validate: validateConfigMap,
      validateChange: (object, old) => validateImmutable(object, old, ['data', 'binaryData']),
    },
  },
  secrets: {
    cells: (object, age) => [nameOf(object), asText(object['type']), size(object['data']), age(createdAt(object))],
    rules: {
      generation: false,
      defaults: defaultSecret,
      validate: validateSecret,
      validateChange: (object, old) => [
        ...unchanged('type', object['type'], old['type']),
        ...validateImmutable(object, old, ['data']),
      ],
      selectableFields: { type: (object) => asText(at(object, 'type')) },
    },
  },
  namespaces: {
    cells: (object, age) => [nameOf(object), asText(at(object, 'status', 'phase')), age(createdAt(object))],
    rules: {
      generation: false,
      defaults: (object) => {
        const name = nameOf(object)
        if (!name) return object
        return withinField(object, 'metadata', (metadata) =>
          asJson(metadata['labels'])[NAMESPACE_LABEL] === name
            ? metadata
            : withField(metadata, 'labels', { ...asJson(metadata['labels']), [NAMESPACE_LABEL]: name }),
        )
      },
      newStatus: { phase: 'Active' },
      validate: validateNamespaceFinalizers,
      validateChange: validateNamespacePhase,
      prepareForCreate: (object) => {
        const finalizers = asList(at(object, 'spec', 'finalizers'))
        const all = finalizers.includes('kubernetes') ? finalizers : [...finalizers, 'kubernetes']
        return withField(object, 'spec', { ...asJson(object['spec']), finalizers: all })
      },
      selectableFields: { 'status.phase': (object) => asText(at(object, 'status', 'phase')) },
      returnsDeletedObject: true,
    },
  },
  serviceaccounts: {
    cells: nameAndAge,
    rules: { generation: false, returnsDeletedObject: true },
  },
  endpoints: {
    deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
    cells: (object, age) => [nameOf(object), formatEndpoints(object), age(createdAt(object))],
    rules: {
      generation: false,
      defaults: (object) =>
        withinItems(object, 'subsets', (subset) =>
          withinItems(subset, 'ports', (port) => filledUnset(port, { protocol: 'TCP' })),
        ),
      validate: validateEndpoints,
      allowsCreateOnUpdate: true,
    },
  },
  nodes: {
    cells: (node, age) => nodeCells(node, age),
    rules: {
      generation: false,
      newStatus: {
        daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
        nodeInfo: Object.fromEntries(
          [
            'machineID',
            'systemUUID',
            'bootID',
            'kernelVersion',
            'osImage',
            'containerRuntimeVersion',
            'kubeletVersion',
            'kubeProxyVersion',
            'operatingSystem',
            'architecture',
          ].map((field) => [field, '']),
        ),
      },
      // Unlike others: it registers itself.
      bringsStatus: true,
      defaults: defaultNode,
      prepareForCreate: withoutConfigSource,
      prepareForUpdate: withoutConfigSource,
      advise: adviseOnNode,
      validate: validateNode,
      validateChange: validateNodeChange,
      selectableFields: { 'spec.unschedulable': (node) => String(at(node, 'spec', 'unschedulable') === true) },
    },
  },
  limitranges: {
    rules: {
      generation: false,
      defaults: (object) => withinField(object, 'spec', (spec) => withinItems(spec, 'limits', defaultLimit)),
      validate: validateLimitRange,
      allowsCreateOnUpdate: true,
    },
  },
  resourcequotas: {
    cells: quotaCells,
    rules: {
      generation: false,
      validate: validateQuota,
      validateChange: validateQuotaChange,
      returnsDeletedObject: true,
    },
  },
  componentstatuses: {
    deprecation: 'v1 ComponentStatus is deprecated in v1.19+',
    cells: (object) => {
      const [condition = {}] = asJsons(object['conditions'])
      const status = condition['status'] === 'True' ? 'Healthy' : 'Unhealthy'
      return [nameOf(object), status, asText(condition['message']), asText(condition['error'])]
    },
  },
}

function validateImmutable(object: Json, old: Json, fields: readonly string[]): FieldError[] {
  if (old['immutable'] !== true) return []
  const wrong = object['immutable'] === true ? [] : [forbiddenField('immutable', IMMUTABLE)]
  for (const field of fields) {
    if (!isEqual(object[field], old[field])) wrong.push(forbiddenField(field, IMMUTABLE))
  }
  return wrong
}

const keyComplaints = (field: string, key: string): FieldError[] =>
  invalidEach(`${field}[${key}]`, key, configMapKey(key))

function validateConfigMap(object: Json): FieldError[] {
  const [data, binary] = [asJson(object['data']), asJson(object['binaryData'])]
  const wrong: FieldError[] = []
  let bytes = 0
  for (const key of Object.keys(data)) {
    wrong.push(...keyComplaints('data', key))
    if (Object.hasOwn(binary, key)) {
      wrong.push(invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'))
    }
    bytes += Buffer.byteLength(asText(data[key]))
  }
  for (const key of Object.keys(binary)) {
    wrong.push(...keyComplaints('binaryData', key))
    bytes += Buffer.byteLength(asText(binary[key]), 'base64')
  }
  if (bytes > MOST_DATA) wrong.push(tooLong('[]', MOST_DATA))
  return wrong
}

/** What is given as text is kept as bytes, over what was given as bytes. */
function defaultSecret(given: Json): Json {
  let secret = filledUnset(given, { type: 'Opaque' })
  const texts = secret['stringData']
  if (isJson(texts) && Object.keys(texts).length > 0) {
    const encoded = Object.entries(texts).map(([key, text]) => [key, Buffer.from(asText(text)).toString('base64')])
    const data: unknown = Object.fromEntries([...Object.entries(asJson(secret['data'])), ...encoded])
    secret = withField(secret, 'data', data)
  }
  return withField(secret, 'stringData', undefined)
}

/** Types of secrets that are good for something only with these keys. */
const NEEDED_KEYS = new Map([
  ['kubernetes.io/dockercfg', ['.dockercfg']],
  ['kubernetes.io/dockerconfigjson', ['.dockerconfigjson']],
  ['kubernetes.io/ssh-auth', ['ssh-privatekey']],
  ['kubernetes.io/tls', ['tls.crt', 'tls.key']],
])

function validateSecret(object: Json): FieldError[] {
  const data = asJson(object['data'])
  const type = asText(object['type'])
  const wrong: FieldError[] = []
  let bytes = 0
  for (const [key, value] of Object.entries(data)) {
    wrong.push(...keyComplaints('data', key))
    bytes += Buffer.byteLength(asText(value), 'base64')
  }
  if (bytes > MOST_DATA) wrong.push(tooLong('data', MOST_DATA))
  for (const key of NEEDED_KEYS.get(type) ?? []) {
    if (!Object.hasOwn(data, key)) wrong.push(required(`data[${key}]`))
    else if (type.startsWith('kubernetes.io/docker')) wrong.push(...validateDockerConfig(key, asText(data[key])))
  }
  if (type === 'kubernetes.io/basic-auth' && !Object.hasOwn(data, 'username') && !Object.hasOwn(data, 'password')) {
    wrong.push(required('data[username]'), required('data[password]'))
  }
  if (type === 'kubernetes.io/service-account-token') {
    const key = 'kubernetes.io/service-account.name'
    if (!at(object, 'metadata', 'annotations', key)) wrong.push(required(`metadata.annotations[${key}]`))
  }
  return wrong
}

function validateDockerConfig(key: string, encoded: string): FieldError[] {
  const text = Buffer.from(encoded, 'base64').toString()
  try {
    if (isJson(JSON.parse(text))) return []
  } catch {
    // Said below.
  }
  const detail =
    text === '' ? 'unexpected end of JSON input' : `invalid character '${text[0]}' looking for beginning of value`
  return [invalidValue(`data[${key}]`, '<secret contents redacted>', detail)]
}

function formatEndpoints(object: Json): string {
  const subsets = asJsons(object['subsets'])
  if (subsets.length === 0) return '<none>'
  const all = subsets.flatMap((subset) => {
    const addresses = asJsons(subset['addresses']).map(({ ip }) => asText(ip))
    const ports = asJsons(subset['ports'])
    if (ports.length === 0) return addresses
    return ports.flatMap(({ port }) => addresses.map((ip) => `${ip.includes(':') ? `[${ip}]` : ip}:${asNumber(port)}`))
  })
  return listWithMore(all, 3)
}

function validateEndpoints(object: Json): FieldError[] {
  return asJsons(object['subsets']).flatMap((subset, index) => {
    const field = `subsets[${index}]`
    const [addresses, notReady] = [asJsons(subset['addresses']), asJsons(subset['notReadyAddresses'])]
    const ports = asJsons(subset['ports'])
    const wrong: FieldError[] = []
    if (addresses.length + notReady.length === 0) {
      wrong.push(required(field, 'must specify `addresses` or `notReadyAddresses`'))
    }
    for (const [name, list] of Object.entries({ addresses, notReadyAddresses: notReady })) {
      list.forEach(({ ip }, at) => wrong.push(...validateAddress(asText(ip), `${field}.${name}[${at}].ip`, true)))
    }
    ports.forEach(({ name, port, protocol }, at) => {
      const path = `${field}.ports[${at}]`
      if (name) wrong.push(...invalidEach(`${path}.name`, name, dnsLabel(asText(name))))
      else if (ports.length > 1) wrong.push(required(`${path}.name`))
      wrong.push(...invalidEach(`${path}.port`, port ?? 0, portNumber(asNumber(port))))
      const protocols = ['SCTP', 'TCP', 'UDP']
      if (!protocol) wrong.push(required(`${path}.protocol`))
      else if (!protocols.includes(asText(protocol))) wrong.push(notSupported(`${path}.protocol`, protocol, protocols))
    })
    return wrong
  })
}

const ROLE = 'node-role.kubernetes.io/'

function nodeCells(node: Json, age: (time: unknown) => string): readonly unknown[] {
  const ready = asJsons(at(node, 'status', 'conditions')).find(({ type }) => type === 'Ready')
  const status = [ready ? (ready['status'] === 'True' ? 'Ready' : 'NotReady') : 'Unknown']
  if (at(node, 'spec', 'unschedulable') === true) status.push('SchedulingDisabled')
  const roles = new Set<string>()
  for (const [key, value] of Object.entries(asJson(at(node, 'metadata', 'labels')))) {
    if (key.startsWith(ROLE) && key.length > ROLE.length) roles.add(key.slice(ROLE.length))
    else if (key === 'kubernetes.io/role' && value) roles.add(asText(value))
  }
  const info = asJson(at(node, 'status', 'nodeInfo'))
  const architecture = asText(info['architecture'])
  const address = (type: string): string =>
    asText(asJsons(at(node, 'status', 'addresses')).find((one) => one['type'] === type)?.['address']) || '<none>'
  const kernel = asText(info['kernelVersion']) || '<unknown>'
  return [
    nameOf(node),
    status.join(','),
    [...roles].toSorted().join(',') || '<none>',
    age(createdAt(node)),
    asText(info['kubeletVersion']),
    address('InternalIP'),
    address('ExternalIP'),
    asText(info['osImage']) || '<unknown>',
    architecture ? `${kernel} (${architecture})` : kernel,
    asText(info['containerRuntimeVersion']) || '<unknown>',
  ]
}

function defaultLimit(limit: Json): Json {
  if (limit['type'] !== 'Container') return limit
  const defaults = filled(asJson(limit['default']), asJson(limit['max']))
  const requests = filled(filled(asJson(limit['defaultRequest']), defaults), asJson(limit['min']))
  const withDefaults = size(defaults) > 0 ? withField(limit, 'default', defaults) : limit
  return size(requests) > 0 ? withField(withDefaults, 'defaultRequest', requests) : withDefaults
}

function quotaCells(quota: Json, age: (time: unknown) => string): readonly unknown[] {
  const [hard, used] = [asJson(at(quota, 'status', 'hard')), asJson(at(quota, 'status', 'used'))]
  const names = Object.keys(hard).toSorted()
  const show = (list: readonly string[]): string =>
    list.map((name) => `${name}: ${asText(used[name]) || '0'}/${asText(hard[name])}`).join(', ')
  return [
    nameOf(quota),
    show(names.filter((name) => !name.startsWith('limits.'))),
    show(names.filter((name) => name.startsWith('limits.'))),
    age(createdAt(quota)),
  ]
}
