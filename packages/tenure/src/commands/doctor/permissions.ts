import { ApiError, type Client } from '@tenure/kube'
import { SelfSubjectAccessReview, SubjectAccessReview } from '@tenure/kube/kinds'
import type { PolicyRule } from '@tenure/runtime'
import { type Finding, Findings } from './finding.ts'
import { type InstalledOperator, isInstalled, type OperatorAccount } from './installed.ts'

/** Concurrent reviews. */
const CONCURRENCY = 8
/** Missing permissions that are named. */
const MAX_NAMED = 6

interface Access {
  readonly group: string
  readonly resource: string
  readonly subresource?: string
  readonly verb: string
  readonly name?: string
  /** Undefined: in all namespaces. */
  readonly namespace?: string
}

/** Checks the rights of each operator's ServiceAccount, or of the user where operators run outside the cluster. */
export async function checkPermissions(
  api: Client,
  installed: readonly InstalledOperator[],
  home: string,
): Promise<readonly Finding[]> {
  const found = new Findings('permissions')
  for (const each of installed.filter(isInstalled)) {
    // A process outside the cluster has the rights of a kubeconfig, most likely of this one.
    const accounts = each.accounts.length > 0 ? each.accounts : [undefined]
    for (const account of accounts) await checkSubject(api, each, account, found, home)
  }
  return found.all
}

async function checkSubject(
  api: Client,
  { leaders, operator }: InstalledOperator,
  account: OperatorAccount | undefined,
  found: Findings,
  home: string,
): Promise<void> {
  const namespace = account?.namespace ?? leaders[0]?.namespace ?? home
  const subject = account ? `ServiceAccount ${account.namespace}/${account.name}` : 'You'
  const wanted = [
    ...operator.rbac.cluster.flatMap((rule) => accessesOf(rule)),
    ...(operator.rbac.namespace ?? []).flatMap((rule) => accessesOf(rule, namespace)),
  ]
  try {
    const missing = await missingAccesses(api, account, wanted)
    if (missing.length === 0) return found.ok(`${subject} may do what ${operator.name} does (${wanted.length} rights).`)
    const named = missing.slice(0, MAX_NAMED).map(describeAccess).join('; ')
    const more = missing.length > MAX_NAMED ? `; and ${missing.length - MAX_NAMED} more` : ''
    const advice = account
      ? `Apply the roles again, with the chart or deploy/, unless the operator's settings make these needless. Reference: deploy/${operator.name}.yaml.`
      : 'The operator runs outside the cluster: that is fine if it runs as another user than you. Else grant these.'
    const text = `${subject} may not: ${named}${more}. ${operator.name} does this.`
    if (account) found.problem(text, advice)
    else found.note(text, advice)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error
    found.note(
      `You may not ask what ${subject} may do, for ${operator.name}.`,
      'Run tenure doctor as an administrator.',
    )
  }
}

async function missingAccesses(
  api: Client,
  account: OperatorAccount | undefined,
  wanted: readonly Access[],
): Promise<readonly Access[]> {
  const missing = new Set<Access>()
  const queue = wanted.values()
  const worker = async (): Promise<void> => {
    for (const access of queue) if (!(await isAllowed(api, account, access))) missing.add(access)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  return wanted.filter((access) => missing.has(access))
}

async function isAllowed(api: Client, account: OperatorAccount | undefined, access: Access): Promise<boolean> {
  const resourceAttributes = { ...access }
  if (!account) {
    const review = await api.create(SelfSubjectAccessReview, { metadata: {}, spec: { resourceAttributes } })
    return review.status?.allowed === true
  }
  const { name, namespace } = account
  const review = await api.create(SubjectAccessReview, {
    metadata: {},
    spec: {
      resourceAttributes,
      user: `system:serviceaccount:${namespace}:${name}`,
      groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    },
  })
  return review.status?.allowed === true
}

/** One access for each combination that a rule allows. */
function accessesOf(rule: PolicyRule, namespace?: string): readonly Access[] {
  const { apiGroups = [], resourceNames, resources = [], verbs } = rule
  const names: readonly (string | undefined)[] = resourceNames?.length ? resourceNames : [undefined]
  return apiGroups.flatMap((group) =>
    resources.flatMap((text) => {
      const [resource = '', subresource] = text.split('/')
      return verbs.flatMap((verb) =>
        names.map((name) => ({
          group,
          resource,
          ...(subresource !== undefined && { subresource }),
          verb,
          ...(name !== undefined && { name }),
          ...(namespace !== undefined && { namespace }),
        })),
      )
    }),
  )
}

function describeAccess({ group, name, namespace, resource, subresource, verb }: Access): string {
  const full = `${resource}${group && `.${group}`}${subresource === undefined ? '' : `/${subresource}`}`
  const where = namespace === undefined ? '' : ` in ${namespace}`
  return `${verb} ${full}${name === undefined ? '' : ` ${name}`}${where}`
}
