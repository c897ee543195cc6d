import type { Impersonation } from '../config/connection-config.ts'

/** The headers for impersonating another user. */
export function impersonationHeaders({ user, uid, groups, extra }: Impersonation): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { 'impersonate-user': user }
  if (uid !== undefined) headers['impersonate-uid'] = uid
  if (groups && groups.length > 0) headers['impersonate-group'] = [...groups]
  for (const [key, values] of Object.entries(extra ?? {})) {
    headers[`impersonate-extra-${encodeKey(key)}`] = [...values]
  }
  return headers
}

/** Percent-encodes characters that a header name cannot contain; the server decodes them. */
function encodeKey(key: string): string {
  return encodeURIComponent(key.toLowerCase()).replaceAll(
    /[()]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
