/** `.Capabilities`: what Helm knows of the cluster. */
import { fn } from '../functions/define.ts'
import { registerMethods } from '../values/methods.ts'
import { GoList, GoStruct } from '../values/values.ts'
import type { StructField, GoValue } from '../values/values.ts'

export interface CapabilityOptions {
  /** Default: `v1.20.0`, as in Helm's library without a cluster. */
  readonly kubeVersion?: string
  /** The API versions for `.Capabilities.APIVersions.Has`. Default: those that Helm's library knows. */
  readonly apiVersions?: readonly string[]
  /** Default: `v3.22`. */
  readonly helmVersion?: string
}

/** The groups and versions that Helm's client knows, in its order of preference. */
const KNOWN_GROUPS: readonly (readonly [group: string, ...versions: string[]])[] = [
  ['', 'v1'],
  ['admissionregistration.k8s.io', 'v1', 'v1alpha1', 'v1beta1'],
  ['internal.apiserver.k8s.io', 'v1alpha1'],
  ['apps', 'v1', 'v1beta1', 'v1beta2'],
  ['authentication.k8s.io', 'v1', 'v1alpha1', 'v1beta1'],
  ['authorization.k8s.io', 'v1', 'v1beta1'],
  ['autoscaling', 'v1', 'v2'],
  ['batch', 'v1', 'v1beta1'],
  ['certificates.k8s.io', 'v1', 'v1beta1', 'v1alpha1'],
  ['coordination.k8s.io', 'v1alpha2', 'v1beta1', 'v1'],
  ['discovery.k8s.io', 'v1', 'v1beta1'],
  ['events.k8s.io', 'v1', 'v1beta1'],
  ['extensions', 'v1beta1'],
  ['flowcontrol.apiserver.k8s.io', 'v1', 'v1beta1', 'v1beta2', 'v1beta3'],
  ['lifecycle.k8s.io', 'v1alpha1'],
  ['networking.k8s.io', 'v1', 'v1beta1'],
  ['node.k8s.io', 'v1', 'v1alpha1', 'v1beta1'],
  ['policy', 'v1', 'v1beta1'],
  ['rbac.authorization.k8s.io', 'v1', 'v1beta1', 'v1alpha1'],
  ['resource.k8s.io', 'v1', 'v1beta2', 'v1beta1', 'v1alpha3'],
  ['scheduling.k8s.io', 'v1alpha3', 'v1beta1', 'v1'],
  ['storage.k8s.io', 'v1beta1', 'v1', 'v1alpha1'],
  ['storagemigration.k8s.io', 'v1', 'v1beta1'],
  ['apiextensions.k8s.io', 'v1beta1', 'v1'],
]

const KNOWN_VERSIONS: readonly string[] = KNOWN_GROUPS.flatMap(([group, ...versions]) =>
  versions.map((version) => (group === '' ? version : `${group}/${version}`)),
)

registerMethods(
  'chartutil.VersionSet',
  new Map([
    [
      'Has',
      (receiver: GoValue) =>
        fn('Has', ['string'], ([version]) => receiver instanceof GoList && receiver.items.includes(version)),
    ],
  ]),
)

const text = (name: string, value: string, json?: string): StructField => ({
  name,
  type: 'string',
  value,
  ...(json !== undefined && { json, omitEmpty: true }),
})

export function capabilities(options: CapabilityOptions = {}): GoStruct {
  const version = options.kubeVersion ?? 'v1.20.0'
  const [, major = '', minor = ''] = /^v?(\d+)\.(\d+)/.exec(version) ?? []
  const kubeVersion = new GoStruct(
    'chartutil.KubeVersion',
    [text('Version', version), text('Major', major), text('Minor', minor)],
    {
      methods: new Map([
        ['String', fn('String', [], () => version)],
        ['GitVersion', fn('GitVersion', [], () => version)],
      ]),
      text: () => version,
      isTextOfPointer: true,
    },
  )
  const helmVersion = new GoStruct('version.BuildInfo', [
    text('Version', options.helmVersion ?? 'v3.22', 'version'),
    text('GitCommit', '', 'git_commit'),
    text('GitTreeState', '', 'git_tree_state'),
    text('GoVersion', 'go1.26.8', 'go_version'),
  ])
  const versions = new GoList('chartutil.VersionSet', options.apiVersions ?? KNOWN_VERSIONS)
  return new GoStruct(
    'chartutil.Capabilities',
    [
      { name: 'KubeVersion', type: 'chartutil.KubeVersion', value: kubeVersion },
      { name: 'APIVersions', type: 'chartutil.VersionSet', value: versions },
      { name: 'HelmVersion', type: 'version.BuildInfo', value: helmVersion },
    ],
    { isPointer: true },
  )
}
