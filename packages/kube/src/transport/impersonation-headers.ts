import type { Impersonation } from '../config/connection-config.ts'

/** The headers that ask the API server to act as somebody else. */
export function impersonationHeaders({ user, uid, groups, extra }: Impersonation): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { 'impersonate-user': user }
  if (uid !== undefined) headers['impersonate-uid'] = uid
  if (groups && groups.length > 0) headers['impersonate-group'] = [...groups]
  for (const [key, values] of Object.entries(extra ?? {})) {
    headers[`impersonate-extra-${encodeKey(key)}`] = [...values]
  }
  return headers
}

/** Percent-encodes what a header name cannot hold; the server decodes it. */
function encodeKey(key: string): string {
  return encodeURIComponent(key.toLowerCase()).replaceAll(
    /[()]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
