import { ApiError, isNotFound, type KubeApi, type Stored } from '@tenure/kube'
import { CustomResourceDefinition } from '@tenure/kube/kinds'
import { definitionVersion } from '@tenure/runtime'
import { type Finding, Findings } from './finding.ts'
import { type InstalledOperator, isInstalled } from './installed.ts'

/** Checks that the CustomResourceDefinitions are installed, served, and of this version. */
export async function checkDefinitions(
  api: Pick<KubeApi, 'get'>,
  installed: readonly InstalledOperator[],
): Promise<readonly Finding[]> {
  const found = new Findings('definitions')
  for (const each of installed) {
    for (const definition of each.operator.crds) await checkDefinition(api, each, definition, found)
  }
  return found.all
}

async function checkDefinition(
  api: Pick<KubeApi, 'get'>,
  installed: InstalledOperator,
  wanted: CustomResourceDefinition,
  found: Findings,
): Promise<void> {
  const { name: operator } = installed.operator
  const name = wanted.metadata?.name ?? ''
  const advice = `Start the operator (tenure ${operator}), which installs it, or run kubectl apply -f deploy/crds/${fileOf(wanted)}.`
  let live: Stored<CustomResourceDefinition>
  try {
    live = await api.get(CustomResourceDefinition, { name })
  } catch (error) {
    if (isNotFound(error)) {
      if (isInstalled(installed)) return found.problem(`${name} is not installed, and ${operator} needs it.`, advice)
      return found.note(`${name} is not installed: nothing runs ${operator} here.`)
    }
    if (error instanceof ApiError && error.status === 403) return found.note(`You may not read ${name}.`)
    throw error
  }
  const conditions = live.status?.conditions ?? []
  const refused = conditions.find(({ type, status }) => type === 'NamesAccepted' && status === 'False')
  if (refused) {
    const remedy = 'Another definition has the same names. Find it with kubectl get crd, and remove one of them.'
    return found.problem(`${name} is not served: ${refused.message ?? refused.reason ?? ''}`, remedy)
  }
  if (!conditions.some(({ type, status }) => type === 'Established' && status === 'True'))
    return found.problem(`${name} is not established.`, `See kubectl describe crd ${name}.`)
  const [own, theirs] = [definitionVersion(wanted), definitionVersion(live)]
  if (theirs < own)
    return found.problem(
      `${name} has version ${theirs}, and this version of Tenure has ${own}.`,
      `${advice} With the chart: crds.upgrade.`,
    )
  if (theirs > own)
    return found.note(`${name} has version ${theirs}, newer than this command's ${own}.`, 'Update this command.')
  found.ok(`${name} is established, with version ${theirs}.`)
}

/** As scripts/generate-manifests.ts names it. */
function fileOf({ metadata }: CustomResourceDefinition): string {
  return `${metadata?.name ?? ''}.yaml`
}
