import type { JsonObject } from '@tenure/kube/model'
import { asString, dnsLabel } from '@tenure/kube/model'

import { append } from '../../model/append.ts'
import { asJsonObjects, asNumber, filledUnset, withinItems } from '../../model/json.ts'
import { invalidEach, notSupported, required } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { createdAt, listWithMore, nameOf } from '../common/columns.ts'
import { validateAddress } from '../common/ip-validation.ts'
import type { KindTable } from '../common/kind-table.ts'
import { portNumber } from '../common/names.ts'

export const ENDPOINTS: KindTable = {
  endpoints: {
    deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
    columns: (object, age) => [nameOf(object), formatEndpoints(object), age(createdAt(object))],
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
}

function formatEndpoints(object: JsonObject): string {
  const subsets = asJsonObjects(object['subsets'])
  if (subsets.length === 0) return '<none>'
  const all = subsets.flatMap((subset) => {
    const addresses = asJsonObjects(subset['addresses']).map(({ ip }) => asString(ip))
    const ports = asJsonObjects(subset['ports'])
    if (ports.length === 0) return addresses
    return ports.flatMap(({ port }) => addresses.map((ip) => `${ip.includes(':') ? `[${ip}]` : ip}:${asNumber(port)}`))
  })
  return listWithMore(all, 3)
}

function validateEndpoints(object: JsonObject): FieldError[] {
  return asJsonObjects(object['subsets']).flatMap((subset, index) => {
    const field = `subsets[${index}]`
    const [addresses, notReady] = [asJsonObjects(subset['addresses']), asJsonObjects(subset['notReadyAddresses'])]
    const ports = asJsonObjects(subset['ports'])
    const errors: FieldError[] = []
    if (addresses.length + notReady.length === 0) {
      errors.push(required(field, 'must specify `addresses` or `notReadyAddresses`'))
    }
    for (const [name, list] of Object.entries({ addresses, notReadyAddresses: notReady })) {
      list.forEach(({ ip }, at) => append(errors, validateAddress(asString(ip), `${field}.${name}[${at}].ip`, true)))
    }
    ports.forEach(({ name, port, protocol }, at) => {
      const path = `${field}.ports[${at}]`
      if (name) errors.push(...invalidEach(`${path}.name`, name, dnsLabel(asString(name))))
      else if (ports.length > 1) errors.push(required(`${path}.name`))
      errors.push(...invalidEach(`${path}.port`, port ?? 0, portNumber(asNumber(port))))
      const protocols = ['SCTP', 'TCP', 'UDP']
      if (!protocol) errors.push(required(`${path}.protocol`))
      else if (!protocols.includes(asString(protocol)))
        errors.push(notSupported(`${path}.protocol`, protocol, protocols))
    })
    return errors
  })
}
