import { type KubeObject, type ObjectRef, type Stored } from '@tenure/kube'
import { ConfigMap, Namespace, ServiceAccount } from '@tenure/kube/kinds'
import { controller, create, patch, watch } from '@tenure/runtime'
import { mapChanges } from '../common/labels.ts'
import { builtIn } from '../component.ts'
import type { BuiltInController } from '../context.ts'

const ROOT_CA = 'kube-root-ca.crt'
const DESCRIPTION =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'

const toNamespace = ({ metadata }: Stored<KubeObject>): readonly ObjectRef[] => [{ name: metadata.namespace ?? '' }]

/** Creates the ServiceAccount `default` in every namespace. */
export const serviceAccounts = builtIn('serviceaccount', () =>
  controller(Namespace, {
    name: 'serviceaccount',
    watches: [watch(ServiceAccount, toNamespace, { selection: { fieldSelector: 'metadata.name=default' } })],
    plan: ({ object, read }) => {
      const { name } = object.metadata
      if (read(ServiceAccount, { name: 'default', namespace: name })) return []
      return [create(ServiceAccount, { metadata: { name: 'default', namespace: name } })]
    },
  }),
)

/** Writes the certificate authority of the API server to a ConfigMap in every namespace. */
export function rootCertificates(authority: string): BuiltInController {
  const data = { 'ca.crt': authority }
  return builtIn('root-ca-certificate', () =>
    controller(Namespace, {
      name: 'root-ca-certificate',
      watches: [watch(ConfigMap, toNamespace, { selection: { fieldSelector: `metadata.name=${ROOT_CA}` } })],
      plan: ({ object, read }) => {
        const namespace = object.metadata.name
        const found = read(ConfigMap, { name: ROOT_CA, namespace })
        const annotations = { 'kubernetes.io/description': DESCRIPTION }
        if (!found) return [create(ConfigMap, { metadata: { name: ROOT_CA, namespace, annotations }, data })]
        if (found.data?.['ca.crt'] === authority) return []
        return [patch(ConfigMap, found, { data: mapChanges(found.data, data) })]
      },
    }),
  )
}
