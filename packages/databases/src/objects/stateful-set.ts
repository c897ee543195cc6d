import { createHash } from 'node:crypto'
import type { Container, PersistentVolumeClaim, PodSpec, StatefulSet, Volume, VolumeMount } from '@tenure/kube/kinds'
import { APP_LABEL, MANAGED_BY_LABEL, OPERATOR } from '../api/names.ts'
import type { DatabaseConfig } from '../config/database-config.ts'
import type { Engine, EngineContext } from '../engines/engine.ts'
import {
  CONFIG_CHECKSUM_ANNOTATION,
  CONTAINER,
  DATA_VOLUME,
  labelsOf,
  MAJOR_ANNOTATION,
  objectNames,
  selectorOf,
} from './names.ts'

export interface StatefulSetInput {
  readonly name: string
  readonly namespace: string
  readonly resourceId: string
  readonly engine: Engine
  readonly config: DatabaseConfig
  readonly context: EngineContext
  /** The text of the settings file. */
  readonly settingsText: string
}

export function statefulSetFor(input: StatefulSetInput): StatefulSet {
  const { name, namespace, resourceId, config, settingsText } = input
  const labels = labelsOf(name, resourceId)
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace, labels, annotations: { [MAJOR_ANNOTATION]: config.major } },
    spec: {
      replicas: config.replicas,
      serviceName: objectNames(name).headlessService,
      selector: { matchLabels: selectorOf(name) },
      // An ordered rollout waits for a pod that crashes, so corrected settings would never reach it.
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'RollingUpdate' },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      template: {
        metadata: { labels, annotations: { [CONFIG_CHECKSUM_ANNOTATION]: checksumOf(settingsText) } },
        spec: podSpec(input),
      },
      volumeClaimTemplates: [dataClaim(name, config)],
    },
  }
}

const checksumOf = (text: string): string => createHash('sha256').update(text).digest('hex')

function podSpec({ name, engine, config, context }: StatefulSetInput): PodSpec {
  const { uid, gid } = engine.userOf(config.image)
  return {
    automountServiceAccountToken: false,
    // The variables of Services, such as REDIS_PORT, are settings to some images.
    enableServiceLinks: false,
    terminationGracePeriodSeconds: engine.terminationGracePeriodSeconds,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: uid,
      runAsGroup: gid,
      fsGroup: gid,
      // PostgreSQL refuses data that its group may write, so only an empty volume is changed.
      fsGroupChangePolicy: 'OnRootMismatch',
      seccompProfile: { type: 'RuntimeDefault' },
    },
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 100,
            podAffinityTerm: {
              labelSelector: { matchLabels: selectorOf(name) },
              topologyKey: 'kubernetes.io/hostname',
            },
          },
        ],
      },
    },
    containers: [container(engine, config, context)],
    volumes: volumesOf(name, engine),
  }
}

function container(engine: Engine, config: DatabaseConfig, context: EngineContext): Container {
  const { startup, readiness, liveness } = engine.probes
  return {
    name: CONTAINER,
    image: config.image,
    args: engine.args,
    env: engine.env(context),
    ports: [{ name: engine.portName, containerPort: engine.port, protocol: 'TCP' }],
    resources: { requests: { ...config.requests }, limits: { ...config.limits } },
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    startupProbe: startup,
    readinessProbe: readiness,
    livenessProbe: liveness,
    volumeMounts: mountsOf(engine, context),
  }
}

const directoryOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))

function mountsOf(engine: Engine, { layout }: EngineContext): readonly VolumeMount[] {
  const { settingsFile, secretFile } = engine
  return [
    { name: DATA_VOLUME, mountPath: layout.mountPath },
    // As a single file: the directory may hold files of the image.
    { name: 'config', mountPath: settingsFile.path, subPath: settingsFile.name, readOnly: true },
    ...(secretFile ? [{ name: 'auth', mountPath: directoryOf(secretFile.path), readOnly: true }] : []),
    ...(engine.needsSharedMemory ? [{ name: 'shm', mountPath: '/dev/shm' }] : []),
  ]
}

function volumesOf(name: string, { secretFile, needsSharedMemory }: Engine): readonly Volume[] {
  const { configMap, secret } = objectNames(name)
  return [
    { name: 'config', configMap: { name: configMap } },
    ...(secretFile
      ? [
          {
            name: 'auth',
            secret: {
              secretName: secret,
              items: [{ key: secretFile.name, path: secretFile.name }],
              defaultMode: 0o440,
            },
          },
        ]
      : []),
    ...(needsSharedMemory ? [{ name: 'shm', emptyDir: { medium: 'Memory' } }] : []),
  ]
}

/** Its labels cannot change, so they prove that the operator created the StatefulSet: see `isLegacy`. */
function dataClaim(name: string, { storageSize, storageClass }: DatabaseConfig): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: DATA_VOLUME, labels: { [APP_LABEL]: name, [MANAGED_BY_LABEL]: OPERATOR } },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: storageSize } },
      ...(storageClass !== undefined && { storageClassName: storageClass }),
    },
  }
}
