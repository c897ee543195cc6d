import type { Deployment, Job, Pod } from '@tenure/kube/kinds'

/** A small pod spec with the defaults of the API server: seeded objects are stored as they are. */
const defaulted = {
  containers: [
    {
      name: 'main',
      image: 'example/main:1',
      imagePullPolicy: 'IfNotPresent',
      resources: {},
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
    },
  ],
  dnsPolicy: 'ClusterFirst',
  schedulerName: 'default-scheduler',
  securityContext: {},
  terminationGracePeriodSeconds: 30,
} satisfies Pod['spec']

export const podSpec = { ...defaulted, enableServiceLinks: true, restartPolicy: 'Always' } satisfies Pod['spec']

/** For Deployments and ReplicaSets. */
export const deploymentSpec = {
  selector: { matchLabels: { app: 'web' } },
  template: { metadata: { labels: { app: 'web' } }, spec: { ...defaulted, restartPolicy: 'Always' } },
} satisfies Deployment['spec']

export const jobSpec = {
  completions: 1,
  parallelism: 1,
  completionMode: 'NonIndexed',
  manualSelector: true,
  selector: { matchLabels: { app: 'web' } },
  template: { metadata: { labels: { app: 'web' } }, spec: { ...defaulted, restartPolicy: 'Never' } },
} satisfies Job['spec']
