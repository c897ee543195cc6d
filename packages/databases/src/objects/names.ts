import { APP_LABEL, MANAGED_BY_LABEL, OPERATOR, RESOURCE_ID_LABEL } from '../api/names.ts'

/** The container of the server. */
export const CONTAINER = 'database'
/** The volume claim template of the data. */
export const DATA_VOLUME = 'data'

/** On the pod template: a change of settings restarts the pods. */
export const CONFIG_CHECKSUM_ANNOTATION = `${OPERATOR}/config-checksum`
/** On the StatefulSet: the engine's major version, for images whose tags do not tell it. */
export const MAJOR_ANNOTATION = `${OPERATOR}/major`

/** The names of the objects of one database. */
export interface ObjectNames {
  readonly statefulSet: string
  readonly clientService: string
  readonly headlessService: string
  readonly configMap: string
  readonly secret: string
  readonly podDisruptionBudget: string
}

export function objectNames(name: string): ObjectNames {
  return {
    statefulSet: name,
    clientService: name,
    headlessService: `${name}-headless`,
    configMap: `${name}-config`,
    secret: `${name}-credentials`,
    podDisruptionBudget: name,
  }
}

/** The labels that select the pods. */
export const selectorOf = (name: string): Readonly<Record<string, string>> => ({ [APP_LABEL]: name })

export const labelsOf = (name: string, resourceId: string): Readonly<Record<string, string>> => ({
  ...selectorOf(name),
  [MANAGED_BY_LABEL]: OPERATOR,
  [RESOURCE_ID_LABEL]: resourceId,
})

/** The cluster's search path completes the name, whatever the domain of the cluster. */
export const hostOf = (name: string, namespace: string): string => `${name}.${namespace}.svc`
