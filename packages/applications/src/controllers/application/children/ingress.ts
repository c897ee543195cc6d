import type { Ingress } from '@tenure/kube/kinds'
import type { ApplicationSpec } from '../../../api/index.ts'
import { childNames, labelsOf } from './identity.ts'

/** Routes a host to the first port of the Service. */
export function ingressFor(name: string, { ingress, ports = [] }: ApplicationSpec): Ingress | undefined {
  const [first] = ports
  if (!ingress || !first) return undefined
  const { className, host, path = '/', tlsSecretName } = ingress
  const names = childNames(name)
  const backend = { service: { name: names.service, port: { number: first.port } } }
  return {
    metadata: { name: names.ingress, labels: labelsOf(name) },
    spec: {
      ...(className !== undefined && { ingressClassName: className }),
      rules: [{ host, http: { paths: [{ path, pathType: 'Prefix', backend }] } }],
      ...(tlsSecretName !== undefined && { tls: [{ hosts: [host], secretName: tlsSecretName }] }),
    },
  }
}
