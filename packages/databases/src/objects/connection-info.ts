import type { Pod, StatefulSet } from '@tenure/kube/kinds'
import type { JsonObject } from '@tenure/kube/model'
import type { EngineName } from '../engines/engine.ts'
import { ENGINES } from '../engines/table.ts'
import { hostOf, objectNames } from './names.ts'

export interface ConnectionInfoInput {
  readonly name: string
  readonly namespace: string
  readonly engine: EngineName
  readonly statefulSet: StatefulSet | undefined
  readonly pods: readonly Pod[]
  /** The Service for clients. Default: the operator's own. */
  readonly serviceName?: string | undefined
  /** The Secret with the credentials; undefined: no Secret of this database is known. */
  readonly secretName: string | undefined
}

const ordinalOf = (pod: Pod): number => Number(/-(\d+)$/.exec(pod.metadata?.name ?? '')?.[1] ?? 0)

/** The keys of `connection_info` that the operator writes. An undefined Secret is written as null. */
export function connectionInfo(input: ConnectionInfoInput): JsonObject {
  const { name, namespace, engine, statefulSet, pods, serviceName = objectNames(name).clientService } = input
  return {
    host: hostOf(serviceName, namespace),
    port: ENGINES[engine].port,
    service_name: serviceName,
    replicas: statefulSet?.spec?.replicas ?? 0,
    ready_replicas: statefulSet?.status?.readyReplicas ?? 0,
    pod_ips: pods
      .toSorted((a, b) => ordinalOf(a) - ordinalOf(b))
      .map((pod) => pod.status?.podIP)
      .filter((ip) => ip !== undefined && ip !== ''),
    secret_name: input.secretName ?? null,
  }
}
