import type { Service } from '@tenure/kube/kinds'
import type { ApplicationPort, ApplicationSpec } from '../../../api/index.ts'
import { childNames, labelsOf } from './identity.ts'

/** The Service of an Application with ports. */
export function serviceFor(name: string, { ports = [] }: ApplicationSpec): Service | undefined {
  if (ports.length === 0) return undefined
  const labels = labelsOf(name)
  return {
    metadata: { name: childNames(name).service, labels },
    spec: { selector: labels, ports: ports.map(servicePort) },
  }
}

function servicePort({ name, port, protocol = 'TCP', targetPort = port }: ApplicationPort) {
  return { name: name ?? `${protocol.toLowerCase()}-${port}`, port, targetPort, protocol }
}
