import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString, valueAtPath } from '@tenure/kube/model'

import { asJsonObjects } from '../../model/json.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import type { KindTable } from '../common/kind-table.ts'
import {
  warningsForNode,
  defaultNode,
  validateNode,
  validateNodeChange,
  withoutConfigSource,
} from './node-validation.ts'

const ROLE = 'node-role.kubernetes.io/'

export const NODES: KindTable = {
  nodes: {
    columns: (node, age) => nodeColumns(node, age),
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
      // The kubelet registers its node together with the status.
      keepsStatusOnCreate: true,
      defaults: defaultNode,
      prepareForCreate: withoutConfigSource,
      prepareForUpdate: withoutConfigSource,
      warnings: warningsForNode,
      validate: validateNode,
      validateChange: validateNodeChange,
      selectableFields: { 'spec.unschedulable': (node) => String(valueAtPath(node, 'spec', 'unschedulable') === true) },
    },
  },
}

function nodeColumns(node: JsonObject, age: (time: unknown) => string): readonly unknown[] {
  const ready = asJsonObjects(valueAtPath(node, 'status', 'conditions')).find(({ type }) => type === 'Ready')
  const status = [ready ? (ready['status'] === 'True' ? 'Ready' : 'NotReady') : 'Unknown']
  if (valueAtPath(node, 'spec', 'unschedulable') === true) status.push('SchedulingDisabled')
  const roles = new Set<string>()
  for (const [key, value] of Object.entries(asJsonObject(valueAtPath(node, 'metadata', 'labels')))) {
    if (key.startsWith(ROLE) && key.length > ROLE.length) roles.add(key.slice(ROLE.length))
    else if (key === 'kubernetes.io/role' && value) roles.add(asString(value))
  }
  const info = asJsonObject(valueAtPath(node, 'status', 'nodeInfo'))
  const architecture = asString(info['architecture'])
  const address = (type: string): string =>
    asString(
      asJsonObjects(valueAtPath(node, 'status', 'addresses')).find((one) => one['type'] === type)?.['address'],
    ) || '<none>'
  const kernel = asString(info['kernelVersion']) || '<unknown>'
  return [
    nameOf(node),
    status.join(','),
    [...roles].toSorted().join(',') || '<none>',
    age(createdAt(node)),
    asString(info['kubeletVersion']),
    address('InternalIP'),
    address('ExternalIP'),
    asString(info['osImage']) || '<unknown>',
    architecture ? `${kernel} (${architecture})` : kernel,
    asString(info['containerRuntimeVersion']) || '<unknown>',
  ]
}
