import { ApiError, isNotFound, type Stored } from '@tenure/kube'
import { followRows, type OutputFormat, polling, rowsText } from '@tenure/runtime/cli'
import { LeaseController } from '../api/lease-controller.ts'
import { targetOf } from '../controllers/lease-controller/target.ts'
import type { LeaseCliContext, LeaseCliOptions } from './context.ts'
import { leaseOutput } from './lease-output.ts'
import { findLeases, type ListedLease } from './find-leases.ts'

/** Milliseconds between two lists where nothing is watched. */
const POLL_MS = 5_000

/** Shows leases until Ctrl-C. */
export async function followLeases(
  context: LeaseCliContext,
  options: LeaseCliOptions,
  format: OutputFormat,
): Promise<void> {
  const { clock, follow, live, write } = context
  const kinds = options.kinds?.length ? options.kinds : await followedKinds(context, options)
  const output = leaseOutput(clock)
  await followRows({
    ...polling({ clock, write, ...follow }, POLL_MS),
    ...(live && { changed: live.changed }),
    read: () =>
      kinds.length === 0
        ? Promise.resolve([])
        : findLeases(live ? { ...context, pages: live.pages } : context, { ...options, kinds }),
    output,
    format,
    idOf: leaseId,
    render: (leases) => rowsText(format, leases, output),
  })
}

/** The kinds that have leases now, and those of LeaseControllers: caches of all kinds of a cluster would be large. */
export async function followedKinds(context: LeaseCliContext, options: LeaseCliOptions): Promise<readonly string[]> {
  const [leases, controllers] = await Promise.all([findLeases(context, options), leaseControllers(context)])
  const names = leases.map(({ apiVersion, kind }) => {
    const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
    return nameOf(kind, version, group)
  })
  for (const { spec, status } of controllers) {
    const { resource } = status ?? {}
    const target = targetOf(spec)
    if (resource) names.push(nameOf(resource.kind, resource.version, resource.group))
    else if (target.ok && target.wanted.version !== undefined)
      names.push(nameOf(target.wanted.names[0] ?? '', target.wanted.version, target.wanted.group))
  }
  return [...new Set(names)]
}

/** Unique among the leases of all kinds. */
export function leaseId({ apiVersion, kind, name, namespace = '' }: ListedLease): string {
  return `${apiVersion}/${kind}/${namespace}/${name}`
}

/** As kubectl accepts it: `deployment.v1.apps`. */
function nameOf(kind: string, version: string, group: string): string {
  return [kind.toLowerCase(), version, group].filter(Boolean).join('.')
}

/** Empty if they cannot be read. */
async function leaseControllers({ api }: LeaseCliContext): Promise<readonly Stored<LeaseController>[]> {
  try {
    return (await api.list(LeaseController)).items
  } catch (error) {
    if (isNotFound(error) || (error instanceof ApiError && error.status === 403)) return []
    throw error
  }
}
