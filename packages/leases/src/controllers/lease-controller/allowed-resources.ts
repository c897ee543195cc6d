import type { AllowedResources, LeaseControllerSpec } from '../../api/lease-controller.ts'
import type { CleanupSettings } from '../../api/types.ts'

/** Whether a LeaseController grants the rights that cleanup jobs need. */
export function hasCleanup({ cleanup = false }: Pick<LeaseControllerSpec, 'cleanup'>): boolean {
  return cleanup !== false
}

/** Why `spec.cleanup` is invalid; undefined if it is valid. The schema leaves its type open. */
export function cleanupProblem({ cleanup }: Pick<LeaseControllerSpec, 'cleanup'>): string | undefined {
  if (cleanup === undefined || typeof cleanup === 'boolean') return undefined
  const isObject = typeof cleanup === 'object' && cleanup !== null && !Array.isArray(cleanup)
  return isObject ? undefined : 'it must be true, false, or an object with images, serviceAccounts and secrets'
}

/** The limits of a LeaseController's cleanup jobs: the lists of the operator and its own, together. */
export function allowedBy(
  { cleanup }: Pick<LeaseControllerSpec, 'cleanup'>,
  settings: CleanupSettings,
): CleanupSettings {
  const own: AllowedResources = typeof cleanup === 'object' ? cleanup : {}
  return {
    ...settings,
    images: union(settings.images, own.images),
    serviceAccounts: union(settings.serviceAccounts, own.serviceAccounts),
    secrets: union(settings.secrets, own.secrets),
  }
}

function union(one: readonly string[], other: readonly string[] = []): readonly string[] {
  return [...new Set([...one, ...other])]
}
