import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, isJsonObject } from '@tenure/kube/model'

import { asNumber, filled, filledUnset, isUnset, withField, withinField, withinItems } from '../../../model/json.ts'

const DEFAULT_FILE_MODE = 0o644

/** `latest` of `nginx`, `v1` of `host:5000/a/b:v1`, empty for a digest without a tag. */
export function imageTag(image: string): string {
  const digest = image.indexOf('@')
  const name = digest < 0 ? image : image.slice(0, digest)
  const colon = name.lastIndexOf(':')
  if (colon > name.lastIndexOf('/')) return name.slice(colon + 1)
  return digest < 0 ? 'latest' : ''
}

const pullPolicy = (image: unknown): string =>
  imageTag(typeof image === 'string' ? image : '') === 'latest' ? 'Always' : 'IfNotPresent'

/** Defaults of a pod spec, also in templates. */
export function defaultPodSpec(given: JsonObject): JsonObject {
  let spec = withinItems(given, 'volumes', defaultVolume)
  for (const list of ['initContainers', 'containers', 'ephemeralContainers']) {
    spec = withinItems(spec, list, defaultContainer)
  }
  spec = filledUnset(spec, { dnsPolicy: 'ClusterFirst', restartPolicy: 'Always', schedulerName: 'default-scheduler' })
  spec = filled(spec, { securityContext: {}, terminationGracePeriodSeconds: 30 })
  return defaultAccount(spec)
}

/** Keeps `serviceAccount`, the deprecated name of `serviceAccountName`, equal to it. */
function defaultAccount(spec: JsonObject): JsonObject {
  const name = isUnset(spec['serviceAccountName']) ? spec['serviceAccount'] : spec['serviceAccountName']
  if (isUnset(name)) return spec
  return withField(withField(spec, 'serviceAccountName', name), 'serviceAccount', name)
}

/** Defaults that apply to pods, not to pod templates. */
export function defaultPodOnly(given: JsonObject): JsonObject {
  let spec = given
  for (const list of ['initContainers', 'containers']) {
    spec = withinItems(spec, list, (container) => withinField(container, 'resources', defaultRequests))
    if (spec['hostNetwork'] === true) {
      spec = withinItems(spec, list, (container) =>
        withinItems(container, 'ports', (port) => filledUnset(port, { hostPort: port['containerPort'] })),
      )
    }
  }
  // kube-apiserver raises a negative grace period to one second.
  if (asNumber(spec['terminationGracePeriodSeconds']) < 0) spec = withField(spec, 'terminationGracePeriodSeconds', 1)
  return filled(spec, { enableServiceLinks: true })
}

function defaultRequests(resources: JsonObject): JsonObject {
  const limits = resources['limits']
  if (!isJsonObject(limits)) return resources
  return withField(resources, 'requests', filled(asJsonObject(resources['requests']), limits))
}

export function defaultPodTemplate(template: JsonObject): JsonObject {
  return withinField(template, 'spec', defaultPodSpec)
}

function defaultContainer(given: JsonObject): JsonObject {
  let container = filledUnset(given, {
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: pullPolicy(given['image']),
  })
  container = withinItems(container, 'ports', (port) => filledUnset(port, { protocol: 'TCP' }))
  container = withinItems(container, 'env', (variable) =>
    withinField(variable, 'valueFrom', (source) => withinField(source, 'fieldRef', defaultFieldRef)),
  )
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    container = withinField(container, probe, defaultProbe)
  }
  return withinField(container, 'lifecycle', (lifecycle) =>
    withinField(withinField(lifecycle, 'postStart', defaultHandler), 'preStop', defaultHandler),
  )
}

const defaultFieldRef = (ref: JsonObject): JsonObject => filledUnset(ref, { apiVersion: 'v1' })

function defaultProbe(given: JsonObject): JsonObject {
  const probe = filledUnset(given, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 })
  return defaultHandler(withinField(probe, 'grpc', (grpc) => filled(grpc, { service: '' })))
}

const defaultHandler = (handler: JsonObject): JsonObject =>
  withinField(handler, 'httpGet', (get) => filledUnset(get, { path: '/', scheme: 'HTTP' }))

function defaultVolume(given: JsonObject): JsonObject {
  const hasSource = Object.keys(given).some((key) => key !== 'name' && given[key] !== null && given[key] !== undefined)
  let volume = hasSource ? given : withField(given, 'emptyDir', {})
  for (const source of ['secret', 'configMap']) {
    volume = withinField(volume, source, (value) => filled(value, { defaultMode: DEFAULT_FILE_MODE }))
  }
  volume = withinField(volume, 'hostPath', (path) => filled(path, { type: '' }))
  volume = withinField(volume, 'downwardAPI', (value) =>
    withinItems(filled(value, { defaultMode: DEFAULT_FILE_MODE }), 'items', defaultDownwardItem),
  )
  volume = withinField(volume, 'image', (image) => filledUnset(image, { pullPolicy: pullPolicy(image['reference']) }))
  volume = withinField(volume, 'projected', (value) =>
    withinItems(filled(value, { defaultMode: DEFAULT_FILE_MODE }), 'sources', (given) => {
      const source = withinField(given, 'serviceAccountToken', (token) => filled(token, { expirationSeconds: 3600 }))
      return withinField(source, 'downwardAPI', (api) => withinItems(api, 'items', defaultDownwardItem))
    }),
  )
  return withinField(volume, 'ephemeral', (value) =>
    withinField(value, 'volumeClaimTemplate', (template) =>
      withinField(template, 'spec', (spec) => filled(spec, { volumeMode: 'Filesystem' })),
    ),
  )
}

const defaultDownwardItem = (item: JsonObject): JsonObject => withinField(item, 'fieldRef', defaultFieldRef)
