/** Warnings for ports of a pod that conflict, within a container or between containers. */
import type { JsonObject } from '@tenure/kube/model'
import { asString } from '@tenure/kube/model'

import { asJsonObjects, asNumber } from '../../../model/json.ts'

/** Bounds of the quadratic search for conflicts. */
const MAX_REPORTED_CONFLICTS = 128
const MAX_COMPARISONS = 1_000_000

export function portWarnings(containers: readonly (readonly [JsonObject, string])[]): readonly string[] {
  const ports = containers.flatMap(([container, field]) =>
    asJsonObjects(container['ports']).map((port, index) => ({ port, field: `${field}.ports[${index}]` })),
  )
  const warnings: string[] = []
  let comparisons = 0
  for (const [index, { port, field }] of ports.entries()) {
    if (port['hostIP'] && !port['hostPort']) warnings.push(`${field}: hostIP set without hostPort: ${shown(port)}`)
    for (let before = 0; before < index; before++) {
      if (warnings.length >= MAX_REPORTED_CONFLICTS || ++comparisons > MAX_COMPARISONS) return warnings
      const other = ports[before]
      const how = other && conflictOf(port, other.port)
      if (other && how !== undefined) warnings.push(`${field}: ${how} port definition with ${other.field}`)
    }
  }
  return [...warnings, ...nameWarnings(ports)]
}

/** The struct as Go prints it. */
const shown = ({ name, hostPort, containerPort, protocol, hostIP }: JsonObject): string =>
  `{Name:${asString(name)} HostPort:${asNumber(hostPort)} ContainerPort:${asNumber(containerPort)} Protocol:${asString(protocol)} HostIP:${asString(hostIP)}}`

function nameWarnings(ports: readonly { readonly port: JsonObject; readonly field: string }[]): readonly string[] {
  const named = new Map<string, string>()
  return ports.flatMap(({ port, field }) => {
    const name = asString(port['name'])
    const first = named.get(name)
    if (name && first === undefined) named.set(name, field)
    if (first === undefined) return []
    return [
      `${field}: duplicate port name "${name}" with ${first}, services and probes that select ports by name will use ${first}`,
    ]
  })
}

function conflictOf(port: JsonObject, other: JsonObject): string | undefined {
  const same = (name: string): boolean => (port[name] || undefined) === (other[name] || undefined)
  if (!same('containerPort') || !same('protocol')) return undefined
  if (same('hostIP') && same('hostPort')) return 'duplicate'
  if (!port['hostPort'] || !other['hostPort']) return 'overlapping'
  // One of the two listens on every address.
  return same('hostPort') && !(port['hostIP'] && other['hostIP']) ? 'dangerously ambiguous' : undefined
}
