import { asJsonObject, asString } from '@tenure/kube/model'

import { invalidValue } from '../../../schema/field-errors.ts'
import type { FieldError } from '../../../schema/types.ts'

const SECCOMP = 'seccomp.security.alpha.kubernetes.io/'
export const POD_SECCOMP_ANNOTATION = `${SECCOMP}pod`
/** The name of the container follows. */
export const CONTAINER_SECCOMP_PREFIX = `container.${SECCOMP}`
const PROFILES = new Set(['runtime/default', 'docker/default', 'unconfined'])
const LOCAL_PROFILE = 'localhost/'

const isProfile = (key: string): boolean => key === POD_SECCOMP_ANNOTATION || key.startsWith(CONTAINER_SECCOMP_PREFIX)

/** Kubernetes ignores the seccomp annotations but still validates them. */
export function validateProfiles(annotations: unknown, field: string): FieldError[] {
  return Object.entries(asJsonObject(annotations)).flatMap(([key, value]) => {
    const profile = asString(value)
    if (!isProfile(key) || PROFILES.has(profile)) return []
    const at = `${field}.${key}`
    if (!profile.startsWith(LOCAL_PROFILE)) return [invalidValue(at, profile, 'must be a valid seccomp profile')]
    const path = profile.slice(LOCAL_PROFILE.length)
    if (path.startsWith('/')) return [invalidValue(at, path, 'must be a relative path')]
    return path.split('/').includes('..') ? [invalidValue(at, path, "must not contain '..'")] : []
  })
}
