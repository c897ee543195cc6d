import { Deployment } from '@tenure/kube/kinds'
import type { Operator } from '@tenure/runtime'
import { leaders, type LeaderRow } from '../cluster/leaders.ts'
import type { Lists } from '../cluster/lists.ts'

/** A ServiceAccount under which an operator runs. */
export interface OperatorAccount {
  readonly namespace: string
  readonly name: string
  /** Of the operator's container. */
  readonly image: string
}

/** An operator, and the traces of it in the cluster. */
export interface InstalledOperator {
  readonly operator: Operator
  /** Its name in the cluster: of its field manager and its webhook configurations. */
  readonly name: string
  /** Empty: no Deployment runs it. It may run outside the cluster. */
  readonly accounts: readonly OperatorAccount[]
  readonly leaders: readonly LeaderRow[]
}

export function isInstalled({ accounts, leaders: leading }: InstalledOperator): boolean {
  return accounts.length > 0 || leading.length > 0
}

/** Finds what runs in the cluster, by the Deployments of the manifests and of the chart and by the leader Leases. */
export async function findInstalled(
  operators: readonly Operator[],
  lists: Lists,
  now: number,
): Promise<readonly InstalledOperator[]> {
  const leading = await leaders(lists, now)
  return await Promise.all(
    operators.map(async (operator) => {
      const name = operator.identity.name ?? operator.name
      const deployments = await Promise.all([
        lists.list(Deployment, { labelSelector: `app.kubernetes.io/name=${name}` }),
        lists.list(Deployment, { labelSelector: `app.kubernetes.io/component=${operator.name}` }),
      ])
      const accounts = new Map<string, OperatorAccount>()
      for (const { metadata, spec } of deployments.flat()) {
        const { containers = [], serviceAccountName = 'default' } = spec?.template.spec ?? {}
        // Another program may have a component of that name.
        const container = containers.find(({ args = [], command = [] }) =>
          [...command, ...args].includes(operator.name),
        )
        if (!container) continue
        const { namespace = '' } = metadata
        accounts.set(`${namespace}/${serviceAccountName}`, {
          namespace,
          name: serviceAccountName,
          image: container.image ?? '',
        })
      }
      return {
        operator,
        name,
        accounts: [...accounts.values()],
        leaders: leading.filter((each) => each.operator === operator.name),
      }
    }),
  )
}
